"""Nanobot's durable memory: an archive of summaries, and files that a scheduled run rewrites from it."""
