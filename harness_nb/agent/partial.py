"""The text of an answer while it streams, written down now and then, so that a kernel that dies does not take it along."""

from __future__ import annotations

import time
from collections.abc import Callable

WRITE_SECONDS = 0.5
"""Least time between two writes."""

GROWTH = 1.25
"""Factor by which a text must have grown for another write: all writes together stay a few times its size."""


class Partial:
    """The text so far of one answer after another.

    Args:
        write: Writes a text down; the next one replaces it, an empty one takes it back.
        now: Gives the time in seconds.
    """

    def __init__(self, write: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._now = now
        self._pieces: list[str] = []
        self._length = self._written = 0
        self._due = now() + WRITE_SECONDS

    @property
    def text(self) -> str:
        """All that came so far."""
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        """Takes a further piece in."""
        self._pieces.append(text)
        self._length += len(text)
        if self._length >= self._written * GROWTH and self._now() >= self._due:
            self._write_whole_words()

    def clear(self) -> None:
        """Begins another answer; what was written of this one is taken back."""
        if self._written:
            self._write("")
        self.taken()

    def taken(self) -> None:
        """Begins another answer, as this one has become a message."""
        self._pieces.clear()
        self._length = self._written = 0
        self._due = self._now() + WRITE_SECONDS

    def _write_whole_words(self) -> None:
        """Writes all but the last word, which may be half of a key, that nothing would recognise."""
        whole = self.text
        end = max(whole.rfind(" "), whole.rfind("\n"))
        if end > 0:
            self._write(whole[:end])
            self._written, self._due = self._length, self._now() + WRITE_SECONDS
