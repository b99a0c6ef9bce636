"""OpenClaw's compaction: re-distilled summaries with an audit, excerpts of the last turns, and caps on tool results."""
