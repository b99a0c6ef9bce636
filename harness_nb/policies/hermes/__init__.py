"""Hermes' compaction: old results in one line, the middle of the conversation as a checkpoint that a model writes."""
