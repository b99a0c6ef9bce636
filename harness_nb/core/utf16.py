"""Texts as JavaScript and Java count them: in UTF-16 units, of which an emoji takes two."""

from __future__ import annotations

_LAST_SINGLE = "\uffff"


def utf16_len(text: str) -> int:
    """UTF-16 units of a text."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_cut(text: str, start: int, stop: int | None = None) -> str:
    """The units of a text from `start` up to but not including `stop`, as a slice; negative positions count from the end.

    A cut inside a pair leaves half of it, a lone surrogate, as those languages do.
    """
    if text.isascii() or max(text, default="") <= _LAST_SINGLE:
        return text[start:stop]
    data = text.encode("utf-16-le", "surrogatepass")
    first, last, _ = slice(start, stop).indices(len(data) // 2)
    return data[2 * first : 2 * max(first, last)].decode("utf-16-le", "surrogatepass")


def has_half_pair(text: str) -> bool:
    """Whether a text holds a lone surrogate, which can't be encoded."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
