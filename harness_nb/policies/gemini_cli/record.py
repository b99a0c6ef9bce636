"""What Gemini CLI's compaction remembers of a session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiCliRecord:
    """State of one session.

    Attributes:
        latched: Whether a snapshot came out longer than what it stood for, so that from then on only outputs are
            shortened until one that the user asks for succeeds.
    """

    latched: bool = False
