"""A complete reply taken apart into the deltas in which it would have come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from harness_nb.core.messages import Message, Text, Thinking, ToolCall
from harness_nb.model.base import CallDelta, Delta, TextDelta, ThinkingDelta

Cutter = Callable[[str], Iterable[str]]
"""Cuts a text into pieces that joined give it back."""

_WORD = re.compile(r"\s*\S+\s*?(?=\s|$)|\s+")


def by_length(chars: int) -> Cutter:
    """Cuts into pieces of that many characters."""
    return lambda text: (text[at : at + chars] for at in range(0, len(text), chars))


def by_word(text: str) -> Iterator[str]:
    """Cuts before the white space of each word."""
    return (found.group() for found in _WORD.finditer(text))


def deltas(reply: Message, cut: Cutter) -> Iterator[Delta]:
    """All deltas of a reply in order: reasoning and text as they stand, then the calls."""
    for part in reply.parts:
        if isinstance(part, Thinking):
            yield from map(ThinkingDelta, cut(part.text))
        elif isinstance(part, Text):
            yield from map(TextDelta, cut(part.text))
    for position, call in enumerate(reply.calls):
        yield from call_deltas(position, call, cut)


def call_deltas(position: int, call: ToolCall, cut: Cutter) -> Iterator[CallDelta]:
    """The deltas of one call: its name, then its arguments in pieces."""
    yield CallDelta(position, call.name)
    for piece in cut(call.arguments):
        yield CallDelta(position, arguments=piece)
