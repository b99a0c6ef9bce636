"""OpenCode's compaction: a marker and a summary stand for all but a short tail, and nothing is deleted."""
