"""Nanobot's compaction: old turns become facts in an archive, at the budget of the window."""
