"""What Nanobot's compaction remembers of a session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NanobotRecord:
    """State of one session.

    Attributes:
        begins: Log index from which on the session's messages count; earlier ones were dropped from it.
        archived: Log index of the first message that is not archived.
    """

    begins: int = 0
    archived: int = 0
