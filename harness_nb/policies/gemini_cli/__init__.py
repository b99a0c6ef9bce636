"""Gemini CLI's compaction: a verified snapshot of what is old, and old tool outputs moved to files."""
