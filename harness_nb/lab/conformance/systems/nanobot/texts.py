"""Long texts as Nanobot's recordings have them."""

from __future__ import annotations

import hashlib
from typing import Any

_HEAD_CHARS, _TAIL_CHARS = 160, 80


def long_text(text: str, most: int) -> Any:
    """A text, or where it is longer than that, its length, ends and hash.

    Args:
        text: The text.
        most: Most characters of one that is recorded whole.
    """
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"chars": len(text), "head": text[:_HEAD_CHARS], "tail": text[-_TAIL_CHARS:], "sha256": digest}
