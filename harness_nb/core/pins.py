"""Pins: texts that stay word for word through every compaction, and the note that brings them back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness_nb.core.blocks import block
from harness_nb.core.item import Item
from harness_nb.core.messages import Message

PinSource = Literal["user", "model", "rule"]
SOURCES: tuple[PinSource, ...] = ("user", "model", "rule")

_SAID = "The user pinned this, or said that it holds from now on. It still holds, word for word:"
_MARK = "pins"


@dataclass(frozen=True, slots=True)
class Pin:
    """A text that stays word for word.

    Attributes:
        text: The text.
        source: Who pinned it: the `user`, the `model` with its tool, or the `rule` that recognises standing instructions.
        index: Log index of the message that it was taken from, or None for a text of its own.
    """

    text: str
    source: PinSource = "user"
    index: int | None = None


def first_to_go(pins: Iterable[Pin]) -> Pin | None:
    """Which pin gives way where there is no room for all: the oldest that the rule found, those that forbid something last.

    What a user or a model pinned never does; None where there is nothing else.
    """
    from harness_nb.core.instructions import forbids  # only where pins are too many: importing has to be quick

    found = [pin for pin in pins if pin.source == "rule"]
    return next((pin for pin in found if not forbids(pin.text)), found[0] if found else None)


def with_room(pins: Iterable[Pin], pin: Pin, *, max_tokens: int, size: Callable[[Pin], int]) -> tuple[Pin, ...] | None:
    """The other pins once there is room for one more, some that the rule found having given way; None without room."""
    kept = [one for one in pins if one.text != pin.text]
    while sum(map(size, (*kept, pin))) > max_tokens:
        going = first_to_go((*kept, pin))
        if going is None or going is pin:
            return None
        kept.remove(going)
    return tuple(kept)


def heeded(
    pins: tuple[Pin, ...], standing: Iterable[str], index: int, *, max_tokens: int, size: Callable[[Pin], int]
) -> tuple[Pin, ...]:
    """The pins once the standing instructions of a message are among them, as far as there is room.

    Args:
        pins: What is pinned.
        standing: The instructions, word for word.
        index: Log index of the message.
        max_tokens: Most tokens of all pins.
        size: Tokens of one.
    """
    for text in standing:
        pin = Pin(text, "rule", index)
        if size(pin) <= max_tokens and all(one.text != text for one in pins):
            kept = with_room(pins, pin, max_tokens=max_tokens, size=size)
            pins = pins if kept is None else (*kept, pin)
    return pins


def missing(pins: Iterable[Pin], items: Iterable[Item]) -> tuple[Pin, ...]:
    """The pins whose text does not stand, word for word, in a message of the user that some items show."""
    pinned = tuple(pins)
    if not pinned:
        return ()
    texts = [item.message.text for item in items if item.is_real_user]
    return tuple(pin for pin in pinned if not any(pin.text in text for text in texts))


def note_of(pins: Sequence[Pin]) -> Item:
    """The note that says some pins word for word, in the user's role; no text in it can close its block."""
    text = block("standing_instructions", "\n\n".join(pin.text for pin in pins), note=_SAID)
    return Item(None, Message.user(text, origin="harness"), "note", (), {_MARK: True})


def is_note(item: Item) -> bool:
    """Whether an item is such a note."""
    return bool(item.meta.get(_MARK))


def restored(pins: Iterable[Pin], items: Sequence[Item]) -> tuple[Item, ...]:
    """A list with one note at its start, behind texts for the system prompt, that says every pin which is missing.

    Args:
        pins: What is to stand in the list.
        items: The list; an earlier note in it gives way.

    Returns:
        The same list when it is right as it is.
    """
    rest = tuple(item for item in items if not is_note(item))
    lost = missing(pins, rest)
    if not lost:
        return rest
    start = next((at for at, item in enumerate(rest) if item.message.role != "system"), len(rest))
    return (*rest[:start], note_of(lost), *rest[start:])
