"""What a format has no place for, counted while a conversation is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from harness_nb.core.messages import Message
from harness_nb.render.text import count


class Losses:
    """Counts of what was left out or changed, by what it was."""

    def __init__(self) -> None:
        self._left_out: Counter[str] = Counter()
        self._changed: Counter[str] = Counter()

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each kind, with the number of messages or parts it concerns."""
        left_out = [f"left out {what}: {count(times, 'time')}" for what, times in self._left_out.items()]
        return (*left_out, *(f"{what}: {count(times, 'time')}" for what, times in self._changed.items()))

    def left_out(self, what: str) -> None:
        """Counts something that is not in the file."""
        self._left_out[what] += 1

    def changed(self, what: str) -> None:
        """Counts something that stands in the file in another way."""
        self._changed[what] += 1

    def beside(self, message: Message, *, but: Collection[str] = ()) -> None:
        """Counts what stands beside the words of a message: time, usage, reason for the end, origin, status.

        Args:
            message: The message.
            but: Names of the fields that the format keeps.
        """
        plain = Message(message.role)
        for name, what in _BESIDE.items():
            if name not in but and getattr(message, name) != getattr(plain, name):
                self.left_out(what)


_BESIDE = {
    "time": "the time of a message",
    "usage": "the usage of an answer",
    "finish": "the reason why an answer ended",
    "origin": "that the harness made a message",
    "status": "the status of a result",
}
