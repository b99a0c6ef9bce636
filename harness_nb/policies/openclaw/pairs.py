"""Cuts in UTF-16 units that go through no pair of surrogates."""

from __future__ import annotations

from harness_nb.core.utf16 import has_half_pair, utf16_cut, utf16_len


def safe_cut(text: str, chars: int) -> str:
    """The beginning of a text, in UTF-16 units, that cuts through no pair."""
    if utf16_len(text) <= chars:
        return text
    return whole_pairs(utf16_cut(text, 0, max(0, chars)))


def safe_tail(text: str, chars: int) -> str:
    """The end of a text, in UTF-16 units, that cuts through no pair."""
    size = utf16_len(text)
    return whole_pairs(utf16_cut(text, max(0, size - chars))) if size > chars else text


def whole_pairs(text: str) -> str:
    """A text without half a pair at either end."""
    if not has_half_pair(text):
        return text
    text = text[1:] if text and "\udc00" <= text[0] <= "\udfff" else text
    return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text
