"""The command `harness-nb`."""

from harness_nb.cli.commands import main

__all__ = ["main"]
