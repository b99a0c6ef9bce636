"""One line of a model input, and the model input as it grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Size, Transcript

How = Literal["kept", "truncated", "cleared", "evicted", "merged", "summary", "note"]


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a model input.

    Attributes:
        index: The log index of the message that it shows, or None when the harness made it.
        message: The whole message as sent.
        how: What was done to it: `kept` as the log has it, an edit, or `summary` or `note` for what the harness made.
        stands_for: Log indices of other messages whose place it takes, in ascending order.
        meta: The policy's own record, of JSON values, saved with the session.
    """

    index: int | None
    message: Message
    how: How = "kept"
    stands_for: tuple[int, ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def indices(self) -> tuple[int, ...]:
        """Every log index that it shows or stands for, in ascending order."""
        if self.index is None:
            return self.stands_for
        return tuple(sorted({self.index, *self.stands_for})) if self.stands_for else (self.index,)

    @property
    def is_real_user(self) -> bool:
        """True for what a person said, as against notes and summaries in the user's role."""
        return self.message.role == "user" and self.message.origin == "user" and self.index is not None

    @property
    def failed(self) -> bool:
        """True for a summary whose request failed or brought nothing."""
        return bool(self.meta.get("failed"))

    @property
    def assumed(self) -> bool:
        """True for a summary that no model has written yet."""
        return bool(self.meta.get("assumed"))


def covered(items: Iterable[Item]) -> tuple[int, ...]:
    """All log indices that some items show or stand for, in ascending order."""
    return tuple(sorted({index for item in items for index in item.indices}))


class ModelInput(Sequence[Item]):
    """An immutable sequence of items; appending is O(1) and shares messages and token sums, as in a transcript."""

    __slots__ = ("_items", "_length", "messages")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)
        self.messages = Transcript(item.message for item in self._items)

    def append(self, *items: Item) -> ModelInput:
        """An input with items added; this one stays as it is.

        Where equal items follow in a longer input that it shares its items with, it goes on sharing them.
        """
        length = self._length + len(items)
        grown = ModelInput.__new__(ModelInput)
        grown._items, grown._length = self._items, length
        if len(self._items) == self._length:
            grown._items.extend(items)
        elif self._items[self._length : length] != list(items):
            grown._items = [*self._items[: self._length], *items]
        grown.messages = self.messages.append(*(item.message for item in grown._items[self._length : length]))
        return grown

    def first(self, length: int) -> ModelInput:
        """The first items as an input that shares them and their sums; O(1)."""
        shorter = ModelInput.__new__(ModelInput)
        shorter._items, shorter._length = self._items, max(0, min(length, self._length))
        shorter.messages = self.messages.first(shorter._length)
        return shorter

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return tuple(self._items[one] for one in range(start, stop, step))
        if not -self._length <= index < self._length:
            raise IndexError(f"item {index} of {self._length}")
        return self._items[index if index >= 0 else index + self._length]

    def __iter__(self) -> Iterator[Item]:
        for position in range(self._length):
            yield self._items[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ModelInput):
            return NotImplemented
        return self._length == other._length and self[:] == other[:]

    def __hash__(self) -> int:
        return hash(self[:])

    def __repr__(self) -> str:
        return f"ModelInput({self._length} items)"

    def __reduce__(self) -> tuple[type[ModelInput], tuple[tuple[Item, ...]]]:
        """Items alone: sums are computed anew where it is unpickled."""
        return ModelInput, (self[:],)

    def begins(self, other: ModelInput) -> bool:
        """True when the other input is known to be this one with items added; O(1), and False where only items tell."""
        return other._items is self._items and self._length <= other._length

    def sums(self, size: Size) -> tuple[int, ...]:
        """Running sums of a size: entry i is the total of the first i items."""
        return self.messages.sums(size)
