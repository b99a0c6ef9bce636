"""Curated memory taken apart by lines: headings, entries, and the parts that a person wrote.

Nothing is lost: the texts of all blocks, joined, are the file. An entry is a bullet with all that belongs to it, a paragraph, or a fenced block. What stands between the lines
`<!-- hand-written -->` and `<!-- /hand-written -->` belongs to the person who wrote it and is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from harness_nb.model.sentences import normal

HAND_STARTS = "<!-- hand-written -->"
HAND_ENDS = "<!-- /hand-written -->"

Kind = Literal["heading", "entry", "hand", "blank"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r"#{1,6}\s+\S")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_COMMENT = re.compile(r"[ \t]*<!--.*?-->", re.DOTALL)
_HAND_STARTS = re.compile(r"\s*<!--\s*hand-written\s*-->\s*", re.IGNORECASE)
_HAND_ENDS = re.compile(r"\s*<!--\s*/\s*hand-written\s*-->\s*", re.IGNORECASE)
_NESTED_INDENT = 2  # bullets indented as far belong to the one above


@dataclass(frozen=True)
class Block:
    """Some lines of curated memory.

    Attributes:
        kind: What they are.
        text: The lines as they stand, with their ends.
        heading: The heading that they stand below, without its marks; of a heading, itself.
    """

    kind: Kind
    text: str
    heading: str = ""

    @cached_property
    def bare(self) -> str:
        """The text without its bullet, comments and outer white space."""
        text = _COMMENT.sub("", self.text).strip()
        bullet = _BULLET.match(text)
        return text[bullet.end() :] if bullet else text

    @cached_property
    def key(self) -> str:
        """What equal texts have in common: marks, case and white space do not count."""
        return normal(self.bare.lstrip("# ") if self.kind == "heading" else self.bare)


def blocks(text: str) -> list[Block]:
    """The blocks of a text, in order."""
    found: list[Block] = []
    heading = ""
    for kind, lines in _grouped(_LINE.findall(text)):
        if kind == "heading":
            heading = lines.strip().lstrip("#").strip()
        found.append(Block(kind, lines, heading))
    return found


def entries(text: str) -> list[Block]:
    """The entries of a text, those of hand-written parts left out."""
    return [block for block in blocks(text) if block.kind == "entry"]


def hand_written(text: str) -> list[Block]:
    """The hand-written parts of a text, their markers included."""
    return [block for block in blocks(text) if block.kind == "hand"]


def joined(found: Iterable[Block]) -> str:
    """The text of blocks, each beginning on a line of its own."""
    text = ""
    for block in found:
        text += block.text if not text or text.endswith("\n") else f"\n{block.text}"
    return text


def as_entry(text: str) -> str:
    """A text as one bullet on one line, whatever it holds; a line feed is written `<br>`."""
    bare = text.strip()
    bullet = _BULLET.match(bare)
    bare = bare[bullet.end() :] if bullet else bare
    return "- " + "<br>".join(line.strip() for line in bare.splitlines() if line.strip())


def _grouped(lines: list[str]) -> Iterator[tuple[Kind, str]]:
    """Lines that belong together, with what they are."""
    at = 0
    while at < len(lines):
        start = at
        kind, at = _end_of(lines, at)
        yield kind, "".join(lines[start:at])


def _end_of(lines: list[str], at: int) -> tuple[Kind, int]:
    """What begins at a line, and the line behind its end."""
    line = lines[at]
    if not line.strip():
        return "blank", at + 1
    if _HAND_STARTS.fullmatch(line):
        ends = (number for number in range(at + 1, len(lines)) if _HAND_ENDS.fullmatch(lines[number]))
        return "hand", next(ends, len(lines) - 1) + 1
    if _HEADING.match(line):
        return "heading", at + 1
    return "entry", _end_of_entry(lines, at)


def _end_of_entry(lines: list[str], start: int) -> int:
    at = _end_of_fence(lines, start)
    is_bullet = _BULLET.match(lines[start]) is not None
    while at < len(lines) and _continues(lines[at], is_bullet):
        at = _end_of_fence(lines, at)
    return at


def _end_of_fence(lines: list[str], at: int) -> int:
    """The line behind a fenced block that begins here, or behind this line where none does."""
    fence = _FENCE.match(lines[at])
    if fence is None:
        return at + 1
    ends = (number for number in range(at + 1, len(lines)) if lines[number].strip() == fence[1])
    return next(ends, len(lines) - 1) + 1


def _continues(line: str, in_bullet: bool) -> bool:
    if not line.strip() or _HEADING.match(line) or _HAND_STARTS.fullmatch(line):
        return False
    bullet = _BULLET.match(line)
    return bullet is None or (in_bullet and len(bullet[1].expandtabs(4)) >= _NESTED_INDENT)
