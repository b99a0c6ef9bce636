"""What tools of the memory have in common: hits as a model reads them, and figures as a model writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_nb.core.blocks import block
from harness_nb.core.preview import head_and_tail
from harness_nb.errors import ToolError

if TYPE_CHECKING:
    from harness_nb.store.hits import SearchHit

MAX_HITS = 30
"""Most hits that one search gives to a model."""

_COMMENT = re.compile(r"\s*<!--.*?-->")
_HIT_CHARS = 500


def shown_hits(query: str, hits: Sequence[SearchHit]) -> str:
    """Search hits for a model to read: one line each, source first, long ones cut down to the snippet."""
    if not hits:
        return f"Nothing was found for {query!r}. Try other words, or fewer."
    return block("search_results", "\n".join(map(_hit_line, hits)), title=f'hits="{len(hits)}"')


def _hit_line(hit: SearchHit) -> str:
    text = _COMMENT.sub("", hit.content)
    text = text if len(text) <= _HIT_CHARS else hit.snippet
    text = head_and_tail(" ".join(text.split()), _HIT_CHARS, 0).with_marker(" ...")
    return f"Source: {hit.path}#{hit.line}: {text}"


def whole_number(name: str, value: object, least: int) -> int:
    """A whole number from what a model wrote: a number, or its digits.

    Raises:
        ToolError: It is none, or below `least`.
    """
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ToolError(f"{name}={value!r} is not valid.", f"Give a whole number of {least} or more.", subject=name)
    return value
