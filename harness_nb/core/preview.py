"""Shortened texts: head and tail with a marker between, and call arguments that stay valid JSON."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

from harness_nb.core.messages import to_json

LEAST_CHARS = 80
"""A text up to this length stays whole in call arguments: with its marker it would hardly be shorter."""


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


def placeholder(text: str, path: str, *, preview_chars: int, can_read: bool) -> str:
    """What stays of a tool result that was moved to a file: its size, where the rest is, and head and tail.

    Args:
        text: The whole result.
        path: File that holds it, relative to the workspace.
        preview_chars: Characters of head and of tail, at most a quarter of the text each.
        can_read: Whether the model has `read_file`; without it the text says that the rest is out of its reach.
    """
    each = min(preview_chars, len(text) // 4)
    where = (
        f"Read it in pieces with read_file(path={path!r}, offset=0)."
        if can_read
        else "The rest is kept for the user; you have no tool to read it."
    )
    shown = head_and_tail(text, each, each)
    return f"[This result has {len(text):,} characters and was moved to {path}. {where}]\n" + shown.with_marker(
        "\n[... {omitted} characters not shown ...]\n"
    )


def _joined(text: str, at: int) -> bool:
    """True when a cut before `at` would break a character that is made of several."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if after < "\u0300":
        return before == _JOINER
    if _is_flag_letter(after):
        return _flag_letters_before(text, at) % 2 == 1
    surrogates = "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
    return before == _JOINER or surrogates or _extends(after)


_JOINER = "\u200d"


def _extends(char: str) -> bool:
    """True for what belongs to the character before it: accents, vowel signs, joiners, skin tones, tags, Korean vowels."""
    return (
        char in (_JOINER, "\u200c")
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
        or unicodedata.category(char)[0] == "M"
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    """Length of the run of flag letters that ends before `at`; two letters make a flag."""
    start = at
    while start > 0 and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


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

    Leaves keys, numbers and short texts alone. Arguments that are no JSON object, or are nested too deeply to walk,
    become one with the shortened text under `_unparsed`.

    Args:
        arguments: The arguments as JSON text.
        max_length: Longest text that stays whole, in characters; below `LEAST_CHARS` that holds instead.
        marker: Stands between head and tail; `{length}` is the original number of characters.

    Returns:
        The same text object when nothing was too long.
    """
    longest = max(max_length, LEAST_CHARS)
    if len(arguments) <= longest:
        return arguments
    try:
        value = json.loads(arguments)
        if isinstance(value, dict):
            shortened = _walk(value, longest, marker)
            return arguments if shortened == value else to_json(shortened)
    except (ValueError, RecursionError):
        pass
    return to_json({"_unparsed": _shorten(arguments, longest, marker)})


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
