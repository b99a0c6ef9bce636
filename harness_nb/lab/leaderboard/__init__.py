"""Presets against each other on data sets and recorded sessions: one command, one table, and a chart of what beats what."""

from harness_nb.lab.leaderboard.board import WINDOWS, Leaderboard, leaderboard
from harness_nb.lab.leaderboard.standings import Standing

__all__ = ["WINDOWS", "Leaderboard", "Standing", "leaderboard"]
