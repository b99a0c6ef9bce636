"""A conversation as it grows: immutable, append-only, with token sums that are never computed twice."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

from harness_nb.core.messages import Message
from harness_nb.core.rounds import Pairing, Span, units_of

Size = Callable[[Message], int]
T = TypeVar("T")


class _Store:
    """Messages, and what is known of them, shared by all transcripts that grew from one another."""

    __slots__ = ("growing", "messages", "pairing", "sums")

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.growing = threading.Lock()
        self.sums: dict[Size, list[int]] = {}
        self.pairing = Pairing()


class Transcript(Sequence[Message]):
    """An immutable sequence of messages; an index names a message for ever.

    Appending is O(1): the longer transcript shares its messages and sums with the shorter one. So it does when the very
    messages that are appended follow in a longer transcript with which it shares them already.

    Args:
        messages: The messages, as `Message` or as OpenAI chat mappings.
        report: What a reader dropped or repaired, a line each.
        name: Where it came from, for displays.
        model: Name of the model that wrote most of its answers, where that is known.
    """

    __slots__ = ("_boundaries", "_length", "_made", "_store", "model", "name", "report")

    def __init__(
        self,
        messages: Iterable[Message | dict[str, Any]] = (),
        *,
        report: Sequence[str] = (),
        name: str = "",
        model: str = "",
    ) -> None:
        made = [one if isinstance(one, Message) else Message.from_openai(one) for one in messages]
        self._store = _Store(made)
        self._length = len(made)
        self._boundaries: tuple[int, ...] | None = None
        self._made: dict[Callable[[Transcript], object], object] = {}
        self.report = tuple(report)
        self.name = name
        self.model = model

    def append(self, *messages: Message) -> Transcript:
        """A transcript with messages added; this one stays as it is."""
        store, length = self._store, self._length + len(messages)
        if len(store.messages) == self._length:
            store.messages.extend(messages)
        elif not self._is_followed_by(messages):  # another transcript grew from this one already, in another way
            store = _Store([*store.messages[: self._length], *messages])
        return self._with(store, length)

    def _is_followed_by(self, messages: Sequence[Message]) -> bool:
        next_ones = self._store.messages[self._length : self._length + len(messages)]
        return len(next_ones) == len(messages) and all(map(operator.is_, next_ones, messages))

    def first(self, length: int) -> Transcript:
        """The first messages as a transcript that shares them and their sums; O(1)."""
        return self._with(self._store, max(0, min(length, self._length)))

    def _with(self, store: _Store, length: int) -> Transcript:
        made = Transcript.__new__(Transcript)
        made._store, made._length, made._boundaries, made._made = store, length, None, {}
        made.report, made.name, made.model = self.report, self.name, self.model
        return made

    def once(self, make: Callable[[Transcript], T]) -> T:
        """What a function makes of this transcript, made once and kept with it: for what many replays of it share."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("T", self._made[make])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if (start, stop, step) == (0, len(self._store.messages), 1):  # all of it: one copy is enough
                return tuple(self._store.messages)
            if step > 0:
                return tuple(self._store.messages[start:stop:step])
            return tuple(self._store.messages[one] for one in range(start, stop, step))
        if not -self._length <= index < self._length:
            raise IndexError(f"message {index} of {self._length}")
        return self._store.messages[index if index >= 0 else index + self._length]

    def __iter__(self) -> Iterator[Message]:
        for position in range(self._length):
            yield self._store.messages[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transcript):
            return NotImplemented
        return self._length == other._length and self[:] == other[:]

    def __hash__(self) -> int:
        return hash(self[:])

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"Transcript({name}{self._length} messages)"

    def __reduce__(self) -> tuple[Callable[..., Transcript], tuple[Any, ...]]:
        """Messages alone: sums are computed anew where it is unpickled."""
        return _rebuilt, (self[:], self.report, self.name, self.model)

    def rounds(self) -> tuple[Span, ...]:
        """Spans that a cut never divides."""
        return units_of(self.pairs(), self._length)

    def pairs(self) -> Mapping[int, int]:
        """For each position of a tool result that has one, the position of the message that made the call.

        Positions behind the end may be among them, of a transcript that grew from this one.
        """
        if self._store.pairing.is_behind(self._store.messages):
            with self._store.growing:
                self._store.pairing.take(self._store.messages)
        return self._store.pairing.call_of

    def boundaries(self) -> tuple[int, ...]:
        """Positions at which a cut may fall: the start of each round, and the end; worked out once."""
        if self._boundaries is None:
            self._boundaries = (*(span.start for span in self.rounds()), self._length)
        return self._boundaries

    def sums(self, size: Size) -> tuple[int, ...]:
        """Running sums of a size: entry i is the total of the first i messages, so there is one more than messages.

        Args:
            size: Size of one message; the same callable gets the same sums back, computed once.
        """
        return tuple(self._sums(size)[: self._length + 1])

    def tokens(self, size: Size, start: int = 0, stop: int | None = None) -> int:
        """Total size of the messages from `start` up to but not including `stop`; O(1) once they are measured."""
        sums = self._sums(size)
        return sums[self._length if stop is None else min(stop, self._length)] - sums[start]

    def _sums(self, size: Size) -> list[int]:
        """The shared running sums, at least up to the end of this transcript."""
        sums = self._store.sums.get(size)
        if sums is None or len(sums) <= self._length:
            with self._store.growing:  # threads may share a transcript
                sums = self._store.sums.setdefault(size, [0])
                for position in range(len(sums) - 1, self._length):
                    sums.append(sums[-1] + size(self._store.messages[position]))
        return sums

    def to_openai(self) -> list[dict[str, Any]]:
        """All messages in OpenAI chat format."""
        return [message.to_openai() for message in self]


def _rebuilt(messages: tuple[Message, ...], report: tuple[str, ...], name: str, model: str) -> Transcript:
    return Transcript(messages, report=report, name=name, model=model)
