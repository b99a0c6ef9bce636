"""Shortened texts: head and tail with a marker between, and call arguments that stay valid JSON."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

from harness_nb.core.messages import to_json

_JOINERS = {"\u200d", "\ufe0f", "\ufe0e", "\u20e3"}


@dataclass(frozen=True, slots=True)
class Preview:
    """Head and tail of a text.

    Attributes:
        head: Its beginning.
        tail: Its end; does not overlap the head.
        omitted: Characters between them.
    """

    head: str
    tail: str
    omitted: int

    def with_marker(self, marker: str = "\n[{omitted} characters left out]\n") -> str:
        """Head, marker and tail; `{omitted}` in the marker stands for the number."""
        if not self.omitted:
            return self.head + self.tail
        return self.head + marker.replace("{omitted}", f"{self.omitted:,}") + self.tail


def head_and_tail(text: str, head_chars: int, tail_chars: int) -> Preview:
    """Cuts the middle out of a text; breaks no character, no combination of characters and no CRLF.

    Args:
        text: The text.
        head_chars: Characters to keep at the start, at most.
        tail_chars: Characters to keep at the end, at most.
    """
    if head_chars + tail_chars >= len(text):
        return Preview(text, "", 0)
    stop = _back_to_boundary(text, max(0, head_chars))
    start = _on_to_boundary(text, max(stop, len(text) - max(0, tail_chars)))
    return Preview(text[:stop], text[start:], start - stop)


def _joined(text: str, at: int) -> bool:
    """True when a cut before `at` would break a character that is made of several."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if before < "\u0300" and after < "\u0300":
        return False
    skin_tone = "\U0001f3fb" <= after <= "\U0001f3ff"
    flag = "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff"
    low_surrogate = "\udc00" <= after <= "\udfff"
    return (
        before in _JOINERS
        or after in _JOINERS
        or skin_tone
        or flag
        or low_surrogate
        or bool(unicodedata.combining(after))
    )


def _back_to_boundary(text: str, at: int) -> int:
    while _joined(text, at):
        at -= 1
    return at


def _on_to_boundary(text: str, at: int) -> int:
    while _joined(text, at):
        at += 1
    return at


def shorten_arguments(
    arguments: str, max_length: int, marker: str = "...[{omitted} of {length} characters left out]..."
) -> str:
    """Shortens the long texts inside a call's arguments; the result is a JSON object of the same shape.

    Works on any depth and leaves keys, numbers and short texts alone. Arguments that are no JSON object become one
    with the shortened text under `_unparsed`.

    Args:
        arguments: The arguments as JSON text.
        max_length: Longest text that stays whole, in characters.
        marker: Stands between head and tail; `{length}` is the original number of characters.

    Returns:
        The same text object when nothing was too long.
    """
    if len(arguments) <= max_length:
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return to_json({"_unparsed": _shorten(arguments, max_length, marker)})
    shortened = _walk(value, max_length, marker)
    return arguments if shortened == value else to_json(shortened)


def _walk(value: object, max_length: int, marker: str) -> object:
    if isinstance(value, str):
        return _shorten(value, max_length, marker)
    if isinstance(value, dict):
        return {key: _walk(one, max_length, marker) for key, one in value.items()}
    if isinstance(value, list):
        return [_walk(one, max_length, marker) for one in value]
    return value


def _shorten(text: str, max_length: int, marker: str) -> str:
    """Head and tail that together with the marker are at most `max_length`; the text itself when that gains nothing."""
    if len(text) <= max_length:
        return text
    full = marker.replace("{length}", f"{len(text):,}")
    room = max(0, max_length - len(full) - 8)
    short = head_and_tail(text, room - room // 2, room // 2).with_marker(full)
    return short if len(short) < len(text) else text
