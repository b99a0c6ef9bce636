"""When OpenClaw takes notes before a compaction: near the window's end, once between two compactions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness_nb.core.utf16 import utf16_len

MOST_FAILURES = 3
"""Failed attempts in a row after which it waits for the next compaction."""

NEAR_TOKENS = 8_192
"""Distance to the threshold at which the stored messages are read for the length of the last answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRecord:
    """What is remembered of a session.

    Attributes:
        total_tokens: Tokens of the last request, None when they are not known.
        is_fresh: Whether that holds still; None where nobody said.
        compactions: How often it was compacted.
        flushed_at: Number of compactions at the last flush; None before the first.
        failures: Failed attempts in a row; None before the first attempt.
    """

    total_tokens: int | None = None
    is_fresh: bool | None = None
    compactions: int = 0
    flushed_at: int | None = None
    failures: int | None = None

    def succeeded(self) -> FlushRecord:
        """The record after a flush; the number of compactions is the one before it."""
        return replace(self, flushed_at=self.compactions, failures=0)

    def failed(self) -> FlushRecord:
        """The record after an attempt that failed; after three in a row the cycle counts as done."""
        failures = (self.failures or 0) + 1
        done = self.compactions if failures >= MOST_FAILURES else self.flushed_at
        return replace(self, failures=failures, flushed_at=done)

    @property
    def is_exhausted(self) -> bool:
        """Whether the last attempt was the last of its cycle."""
        return (self.failures or 0) >= MOST_FAILURES


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What the stored messages say.

    Attributes:
        prompt_tokens: Tokens of the last request by its bill, 0 without one.
        output_tokens: Tokens of its answer.
        size_bytes: Bytes of the session's file.
    """

    prompt_tokens: int = 0
    output_tokens: int = 0
    size_bytes: int = 0


def is_due(record: FlushRecord | None, transcript: Transcript, prompt: str, *, threshold: int, most_bytes: int) -> bool:
    """Whether notes are taken before the next turn.

    Args:
        record: What is remembered of the session; None for a session that is not known.
        transcript: What its messages say.
        prompt: The new message of the user.
        threshold: Tokens at which they are; 0 or less never.
        most_bytes: Size of the session at which they are in any case.
    """
    if record is None or record.flushed_at == record.compactions:
        return False
    return transcript.size_bytes >= most_bytes or 0 < threshold <= _tokens(record, transcript, prompt, threshold)


def _tokens(record: FlushRecord, transcript: Transcript, prompt: str, threshold: int) -> int:
    """Tokens of the next request: the last known ones, the last answer where it was looked up, and the prompt."""
    fresh = (record.total_tokens or 0) if record.is_fresh else 0
    more = -(-utf16_len(prompt.strip()) // 4)
    is_near = bool(more) and threshold > 0 and fresh + more >= threshold - NEAR_TOKENS
    read = transcript if not fresh or is_near else Transcript()
    known = max(fresh, read.prompt_tokens)
    if known:
        return known + read.output_tokens + more
    return record.total_tokens or 0 if record.is_fresh is not False else 0
