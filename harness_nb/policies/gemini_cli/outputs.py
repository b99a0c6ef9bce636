"""Shortening tool outputs: head and tail of one that goes to a file, and the preview of a masked one."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.utf16 import utf16_cut, utf16_len

MASK_TAG = "<tool_output_masked>"
"""Opens every masked output."""

_HEAD_SHARE = 0.2
_PREVIEW_LINES = 10
_PREVIEW_CHARS = 250
_NOTICE = "[Long result: its first {head} and last {tail} characters are below.\nAll of it is in the file {path}.]\n\n"
_MIDDLE = "\n[{omitted} characters left out]\n"
_MASKED = "<tool_output_masked>\n{preview}\n\nThis output was long; you find it whole in: {path}\n</tool_output_masked>"
_JSON_MIDDLE = "\n... [shortened] ...\n"
_LINES_MIDDLE = "\n\n... [{omitted} lines cut out] ...\n\n"
_SECTION = re.compile(r"^(Output|Error|Exit Code|Signal|Background PIDs|Process Group PGID): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shares:
    """How much of a text stays.

    Attributes:
        head: Units at its beginning; below 0, all but so many at the end.
        tail: Units at its end; 0 for all of it, below 0 for all but so many at the beginning.
    """

    head: int
    tail: int


def shares(display: int) -> Shares:
    """A fifth at the beginning and the rest at the end, also of a size that is not above 0."""
    head = math.floor(display * _HEAD_SHARE)
    return Shares(head, display - head)


def shortened(item: Item, display: int, path: str) -> Item:
    """A result with a notice, its head and its tail.

    Args:
        item: The result.
        display: Units that stay. 0 and less have the effect that they have in Gemini CLI: head and tail overlap or vanish.
        path: The file that holds all of it.
    """
    text = item.message.text
    part = shares(display)
    head, tail = utf16_cut(text, 0, part.head), utf16_cut(text, -part.tail)
    omitted = utf16_len(text) - display
    notice = _NOTICE.format(head=f"{part.head:,}", tail=f"{part.tail:,}", path=path)
    made = f"{notice}{head}{_MIDDLE.format(omitted=f'{omitted:,}')}{tail}"
    sizes = {"head": utf16_len(head), "tail": utf16_len(tail), "omitted": omitted, "path": path}
    return edits.edited(item, item.message.with_text(made), "evicted", **sizes)


@dataclass(frozen=True, slots=True)
class Preview:
    """What stays of a masked output.

    Attributes:
        text: The preview.
        unit: What `head` and `tail` count: `json_chars`, `lines`, or `whole` where nothing was cut.
        head: How much stands before the gap.
        tail: How much stands behind it.
        omitted: Lines left out; 0 for characters.
    """

    text: str
    unit: str = "whole"
    head: int = 0
    tail: int = 0
    omitted: int = 0


def preview(text: str, *, is_shell: bool) -> Preview:
    """What stays of an output: of a shell's, first and last lines; of any other, both ends of its JSON."""
    return _by_lines(text) if is_shell else _by_chars(text)


def masked(item: Item, shown: Preview, path: str) -> Item:
    """A result that is masked.

    Args:
        item: The result.
        shown: What stays of it.
        path: The file that holds all of it.
    """
    text = _MASKED.format(preview=shown.text, path=path)
    sizes = {"unit": shown.unit, "head": shown.head, "tail": shown.tail, "preview_chars": utf16_len(shown.text)}
    gap = {"omitted": shown.omitted} if shown.omitted else {}
    return edits.edited(item, item.message.with_text(text), "evicted", path=path, **sizes, **gap)


def filed_text(text: str) -> str:
    """What a masked output's file holds: its JSON, readable."""
    return json.dumps({"output": text}, ensure_ascii=False, indent=2)


def _by_chars(text: str) -> Preview:
    written = filed_text(text)
    length = utf16_len(written)
    if length <= 2 * _PREVIEW_CHARS:
        return Preview(written)
    head, tail = utf16_cut(written, 0, _PREVIEW_CHARS), utf16_cut(written, length - _PREVIEW_CHARS)
    return Preview(f"{head}{_JSON_MIDDLE}{tail}", "json_chars", _PREVIEW_CHARS, _PREVIEW_CHARS)


@dataclass(frozen=True, slots=True)
class _Gap:
    """Lines of a text with those in the middle left out; without any left out, all stand in `head`."""

    head: list[str]
    tail: list[str]
    omitted: int

    def __str__(self) -> str:
        middle = _LINES_MIDDLE.format(omitted=self.omitted) if self.omitted else ""
        return "\n".join(self.head) + middle + "\n".join(self.tail)


def _by_lines(text: str) -> Preview:
    pieces = _pieces(text)
    shown = "\n".join(map(str, pieces))
    cut = [at for at, piece in enumerate(pieces) if piece.omitted]
    if not cut:
        return Preview(shown)
    head = sum(len(piece.head) for piece in pieces[: cut[0] + 1])
    tail = sum(len(piece.tail) or len(piece.head) for piece in pieces[cut[-1] :])
    return Preview(shown, "lines", head, tail, sum(piece.omitted for piece in pieces))


def _pieces(text: str) -> list[_Gap]:
    """A text section by section where a shell wrote sections; only that of the output is cut, or what is before."""
    before, *rest = _SECTION.split(text)
    if not rest:
        return [_cut(text)]
    told = [(name, f"{name}: {content.strip()}") for name, content in zip(rest[::2], rest[1::2], strict=True)]
    opening = [_cut(before.strip())] if before.strip() else []
    return opening + [_cut(one) if name == "Output" else _Gap(one.split("\n"), [], 0) for name, one in told]


def _cut(text: str) -> _Gap:
    lines = text.split("\n")
    if len(lines) <= 2 * _PREVIEW_LINES:
        return _Gap(lines, [], 0)
    return _Gap(lines[:_PREVIEW_LINES], lines[-_PREVIEW_LINES:], len(lines) - 2 * _PREVIEW_LINES)
