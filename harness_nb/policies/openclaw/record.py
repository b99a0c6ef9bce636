"""What OpenClaw's policy remembers from call to call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpenClawRecord:
    """What outlives a call.

    Attributes:
        compactions: How often the session was compacted.
        compacted_at: Length of the log at the last compaction; 0 before the first.
        pruned_at: Time of the last request, or of the last pruning, in seconds since 1970; 0 before the first.
    """

    compactions: int = 0
    compacted_at: int = 0
    pruned_at: float = 0.0
