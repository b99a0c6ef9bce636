"""Compaction policies, one a file: pure functions from a view to a plan. They import the core only."""
