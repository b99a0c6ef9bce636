"""How OpenClaw cuts a note into chunks: by lines, each chunk beginning with the end of the one before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.core.weights import CHARS_PER_TOKEN, weighted_chars

_LEAST_CHARS = 32


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of a note.

    Attributes:
        start_line: First line, from 1.
        end_line: Last line, included.
        text: Their text; of a very long line it is a part.
    """

    start_line: int
    end_line: int
    text: str

    @property
    def sha256(self) -> str:
        """Hash of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class _Piece(NamedTuple):
    """A line or a part of one, with its weighted size, line end included."""

    text: str
    line: int
    size: int


def chunked(text: str, tokens: int, overlap: int, *, bounded: bool = False) -> list[Chunk]:
    """Chunks of a note.

    A chunk closes where the next line would go above the limit, and whole lines at its end, at least `overlap` tokens of
    them, begin the next one. So a long line makes it larger than the limit, unless `bounded`.

    Args:
        text: The note.
        tokens: Limit in tokens of four characters; East Asian characters are a token each.
        overlap: Tokens carried over, at least.
        bounded: Whether what is carried over leaves room for the next line.
    """
    most, carried = max(_LEAST_CHARS, tokens * CHARS_PER_TOKEN), overlap * CHARS_PER_TOKEN
    chunks: list[Chunk] = []
    current: list[_Piece] = []
    size = 0
    for piece in _pieces(text, most, max(1, tokens)):
        if current and size + piece.size > most:
            chunks.append(_chunk(current))
            current = _carried(current, carried, most - piece.size if bounded else None)
            size = sum(one.size for one in current)
        current.append(piece)
        size += piece.size
    return [*chunks, _chunk(current)]


def _chunk(pieces: list[_Piece]) -> Chunk:
    return Chunk(pieces[0].line, pieces[-1].line, "\n".join(piece.text for piece in pieces))


def _carried(pieces: list[_Piece], least: int, most: int | None) -> list[_Piece]:
    """The pieces at the end that begin the next chunk."""
    kept: list[_Piece] = []
    size = 0
    while least > 0 and size < least and len(kept) < len(pieces):
        piece = pieces[-1 - len(kept)]
        if most is not None and size + piece.size > most:
            break
        kept.insert(0, piece)
        size += piece.size
    return kept


def _pieces(text: str, most: int, fine: int) -> list[_Piece]:
    return [
        _Piece(part, number, weighted_chars(part) + 1)
        for number, line in enumerate(text.split("\n"), 1)
        for part in _parts(line, most, fine)
    ]


def _parts(line: str, most: int, fine: int) -> list[str]:
    """A line in parts of at most `most` characters, and of `fine` ones where these weigh too much."""
    if not line:
        return [""]
    parts = []
    for coarse in _slices(line, most, forward=False):
        parts += list(_slices(coarse, fine, forward=True)) if weighted_chars(coarse) > most else [coarse]
    return parts


def _slices(text: str, step: int, *, forward: bool) -> list[str]:
    """Slices of so many units; a pair of surrogates that would be cut is kept whole by one more or one less."""
    found, start, size = [], 0, utf16_len(text)
    while start < size:
        stop = min(start + step, size)
        if stop < size and _cuts_pair(text, stop):
            stop += 1 if forward or stop - start == 1 else -1
        found.append(utf16_cut(text, start, stop))
        start = stop
    return found


def _cuts_pair(text: str, at: int) -> bool:
    before = utf16_cut(text, at - 1, at)
    return "\ud800" <= before <= "\udbff"
