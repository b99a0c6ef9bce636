"""Length of a text as OpenClaw weighs it: characters of East Asian scripts count four times, as each is about a token."""

from __future__ import annotations

import re

from harness_nb.core.utf16 import utf16_len

CHARS_PER_TOKEN = 4

_WIDE = re.compile(
    "[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\U00020000-\U0002fa1f]"
)
_RARE = re.compile("[\U00020000-\U0002fa1f]")


def weighted_chars(text: str) -> int:
    """UTF-16 units of a text, with four for each Han, Kana or Hangul character and each full-width form."""
    if text.isascii():
        return len(text)
    return utf16_len(text) - len(_RARE.findall(text)) + (CHARS_PER_TOKEN - 1) * len(_WIDE.findall(text))
