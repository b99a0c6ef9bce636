"""How frequent words are in an index, found out at a bounded cost, so that a search can leave out what would cost most."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from harness_nb.store.query import phrase

COMMON_SHARE = 0.15
"""A word in more than this share of the lines says next to nothing, and counting its lines takes long in a large index."""

_LARGE = 150_000  # rows from which that is so
_SAMPLE = 500

_NEWEST = """
SELECT count(*), min(rowid) FROM (
    SELECT rowid FROM line_fts WHERE line_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?
)
"""
_LINES_SINCE = "SELECT count(*) FROM (SELECT 1 FROM line_fts_docsize WHERE id BETWEEN ? AND ? LIMIT ?)"


class Sample(NamedTuple):
    """The newest lines that have a word: how many up to a bound, and the id of the oldest of them."""

    lines: int
    oldest: int


def total_rows(connection: sqlite3.Connection) -> int:
    """Rows of the whole full-text table, which keeps their number as the first varint of its first record."""
    row = connection.execute("SELECT block FROM line_fts_data WHERE id = 1").fetchone()
    total = 0
    for byte in (row[0] or b"") if row is not None else b"":
        total = (total << 7) | (byte & 0x7F)
        if byte < 0x80:
            break
    return total


def lines_with(connection: sqlite3.Connection, ids: tuple[int, int], expression: str, most: int) -> int:
    """How many lines match an FTS5 expression, counted up to a bound."""
    count: int = connection.execute(_NEWEST, (expression, *ids, most)).fetchone()[0]
    return count


def is_large(rows: int) -> bool:
    """Whether an index is so large that words in a large share of its lines cost too much."""
    return rows > _LARGE


def frequent(connection: sqlite3.Connection, ids: tuple[int, int], words: Sequence[str]) -> Collection[str]:
    """The words that stand in a large share of the newest lines of a large index.

    Args:
        connection: Reads the index.
        ids: First and last id that count.
        words: The words.
    """
    return {word for word in words if _is_common(connection, ids, _sample(connection, ids, word, _SAMPLE))}


def _is_common(connection: sqlite3.Connection, ids: tuple[int, int], sample: Sample) -> bool:
    if sample.lines < _SAMPLE:
        return False
    most = int(_SAMPLE / COMMON_SHARE)
    lines: int = connection.execute(_LINES_SINCE, (sample.oldest, ids[1], most)).fetchone()[0]
    return lines < most


def rarest(
    connection: sqlite3.Connection, ids: tuple[int, int], words: Sequence[str], most_lines: int
) -> Sequence[str]:
    """As many of the rarest words as stand in a number of lines together, at least one, in the order given."""
    samples = {word: _sample(connection, ids, word, most_lines) for word in words}
    lines = 0
    chosen: set[str] = set()
    for word in sorted(words, key=lambda word: samples[word]):
        lines += samples[word].lines
        if chosen and lines > most_lines:
            break
        if samples[word].lines:
            chosen.add(word)
    return [word for word in words if word in chosen] or words


def _sample(connection: sqlite3.Connection, ids: tuple[int, int], word: str, most: int) -> Sample:
    count, oldest = connection.execute(_NEWEST, (phrase(word), *ids, most)).fetchone()
    return Sample(count, oldest or 0)
