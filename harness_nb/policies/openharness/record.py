"""What OpenHarness' compaction remembers of a session."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHarnessRecord:
    """State of one session.

    Attributes:
        failures: Failed summaries in a row.
        turn: Where the turn began in which they were counted.
        checkpoint: What was written down at the end of the last turn, or empty.
    """

    failures: int = 0
    turn: int = 0
    checkpoint: str = ""

    def failed(self) -> OpenHarnessRecord:
        """After one more failure."""
        return replace(self, failures=self.failures + 1)

    def succeeded(self) -> OpenHarnessRecord:
        """After a compaction."""
        return replace(self, failures=0)
