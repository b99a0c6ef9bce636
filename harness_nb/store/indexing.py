"""Rows of the index written and removed, a file at a time, inside a transaction of the caller.

The ids of a workspace's rows lie in a range of their own, and in that those of each kind, so that a search looks at nothing
else. A file's rows are runs of ids, so that they are removed without a scan; between runs an id stays free, so that rows of
neighbouring ids are neighbours in a file. A file that was only appended to gets rows for what is new.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harness_nb.store.documents import Row, Stamp, kind_of, rows
from harness_nb.store.frequency import total_rows
from harness_nb.store.hits import KINDS, Kind
from harness_nb.store.query import searchable
from harness_nb.store.watch import RACY_NS

Span = tuple[int, int]
"""First and last id of rows."""

_LARGE_PART = 4  # a quarter: merging then costs little beside adding
_ID_BITS = 40
_KIND_BITS = 36


@dataclass(frozen=True, slots=True)
class Known:
    """What the index knows of a file."""

    id: int
    hash: str
    stamp: Stamp
    lines: int
    checked_ns: int

    def is_current(self, stamp: Stamp) -> bool:
        """Whether the file is surely as it was read, without reading it."""
        return stamp == self.stamp and stamp.mtime_ns + RACY_NS < self.checked_ns


def workspace_id(connection: sqlite3.Connection, name: str) -> int | None:
    """Number of a workspace in this index."""
    row = connection.execute("SELECT id FROM workspace WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def make_workspace_id(connection: sqlite3.Connection, name: str) -> int:
    """Number of a workspace in this index, given to it when it has none."""
    connection.execute("INSERT OR IGNORE INTO workspace (name) VALUES (?)", (name,))
    found = workspace_id(connection, name)
    assert found is not None  # noqa: S101  (inserted above, in the same transaction)
    return found


def id_ranges(workspace: int, kinds: Collection[Kind] = KINDS) -> list[tuple[int, int]]:
    """First and last ids that rows of these kinds may have in the workspace; the kinds that come first are first."""
    ranges: list[tuple[int, int]] = []
    for kind in KINDS:
        if kind in kinds:
            low, high = _kind_range(workspace, kind)
            if ranges and ranges[-1][1] + 1 == low:
                low = ranges.pop()[0]
            ranges.append((low, high))
    return ranges[::-1]


def _kind_range(workspace: int, kind: Kind) -> tuple[int, int]:
    low = (workspace << _ID_BITS) + (KINDS.index(kind) << _KIND_BITS)
    return low, low + (1 << _KIND_BITS) - 1


_KNOWN = "SELECT path, id, hash, mtime_ns, ctime_ns, size, lines, checked_ns FROM doc WHERE workspace = ?"


def known_files(connection: sqlite3.Connection, workspace: int) -> dict[str, Known]:
    """What the index knows of all files of a workspace, by name."""
    return {row[0]: _known(row) for row in connection.execute(_KNOWN, (workspace,))}


def _known(row: tuple[str, int, str, int, int, int, int, int]) -> Known:
    return Known(row[1], row[2], Stamp(*row[3:6]), row[6], row[7])


def index_file(connection: sqlite3.Connection, workspace: int, name: str, stamp: Stamp, data: bytes) -> Span | None:
    """Brings the rows of one file up to date with its content, but for new words: `index_words` takes them in.

    Args:
        connection: Inside a transaction.
        workspace: Number of the workspace.
        name: Name of the file in it.
        stamp: Its stamp, taken before it was read.
        data: Its content.

    Returns:
        The ids of the new rows, if there are any.
    """
    row = connection.execute(f"{_KNOWN} AND path = ?", (workspace, name)).fetchone()
    known = _known(row) if row is not None else None
    digest, is_appended = _compare(data, known)
    start, lines = 0, 0
    if known is not None and digest != known.hash:
        if is_appended:
            start, lines = known.stamp.size, known.lines
        else:
            _delete_rows(connection, workspace, known.id)
    doc = _save_doc(connection, workspace, name, digest, stamp, data.count(b"\n"))
    if known is not None and digest == known.hash:
        return None
    return _insert_rows(connection, _range_of(workspace, name), doc, rows(name, data[start:], lines + 1))


def index_words(connection: sqlite3.Connection, spans: Iterable[Span]) -> None:
    """Takes the words of new rows in. All rows of a transaction at once: each statement makes SQLite write a piece of index.

    Args:
        connection: Inside the transaction that made the rows.
        spans: First and last ids of the rows.
    """
    runs: list[Span] = []
    for first, last in sorted(spans):
        if runs and first - runs[-1][1] <= 2:  # the id between is free
            first = runs.pop()[0]
        runs.append((first, last))
    connection.executemany(
        "INSERT INTO line_fts (rowid, body) SELECT id, body FROM body WHERE id BETWEEN ? AND ?", runs
    )


def merge_words(connection: sqlite3.Connection, new_rows: int) -> None:
    """Makes one piece of index of many, where a large part of the rows is new: searches take half the time afterwards.

    Args:
        connection: Inside a transaction.
        new_rows: How many rows were added since.
    """
    if new_rows * _LARGE_PART >= total_rows(connection):
        connection.execute("INSERT INTO line_fts (line_fts) VALUES ('optimize')")


def remove_file(connection: sqlite3.Connection, workspace: int, name: str) -> None:
    """Removes a file and its rows."""
    row = connection.execute("SELECT id FROM doc WHERE workspace = ? AND path = ?", (workspace, name)).fetchone()
    if row is not None:
        _delete_rows(connection, workspace, row[0])
        connection.execute("DELETE FROM doc WHERE id = ?", row)


def _compare(data: bytes, known: Known | None) -> tuple[str, bool]:
    """Hash of a content, and whether it is the known one with whole lines behind it."""
    size = known.stamp.size if known is not None else 0
    hashed = hashlib.blake2b(data[:size], digest_size=16)
    is_appended = known is not None and hashed.hexdigest() == known.hash and data[size - 1 : size] == b"\n"
    hashed.update(data[size:])
    return hashed.hexdigest(), is_appended


def _save_doc(connection: sqlite3.Connection, workspace: int, name: str, digest: str, stamp: Stamp, lines: int) -> int:
    values = (workspace, name, kind_of(name), digest, stamp.mtime_ns, stamp.ctime_ns, stamp.size, lines, time.time_ns())
    row = connection.execute(
        "INSERT INTO doc (workspace, path, kind, hash, mtime_ns, ctime_ns, size, lines, checked_ns)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, path) DO UPDATE SET hash = excluded.hash, mtime_ns = excluded.mtime_ns,"
        " ctime_ns = excluded.ctime_ns, size = excluded.size, lines = excluded.lines, checked_ns = excluded.checked_ns"
        " RETURNING id",
        values,
    ).fetchone()
    return int(row[0])


def _range_of(workspace: int, name: str) -> tuple[int, int]:
    kind = kind_of(name)
    assert kind is not None  # noqa: S101  (only such files get here)
    return _kind_range(workspace, kind)


def _insert_rows(connection: sqlite3.Connection, ids: tuple[int, int], doc: int, new: Iterable[Row]) -> Span | None:
    first = _next_id(connection, ids, doc)
    cursor = connection.executemany(
        "INSERT INTO line (id, doc, line, date, text, searchable) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (id, doc, line, date, text, None if text.isascii() else _other_form(text))
            for id, (line, date, text) in enumerate(new, first)
        ),
    )
    if cursor.rowcount < 1:
        return None
    last = first + cursor.rowcount - 1
    extended = connection.execute("UPDATE span SET last = ? WHERE doc = ? AND last = ?", (last, doc, first - 1))
    if extended.rowcount < 1:
        connection.execute("INSERT INTO span (doc, first, last) VALUES (?, ?, ?)", (doc, first, last))
    changed = first - 1 if extended.rowcount else first  # the line before has a neighbour now
    connection.execute("INSERT OR REPLACE INTO stale (first, last) VALUES (?, ?)", (changed, last))
    return first, last


def _next_id(connection: sqlite3.Connection, ids: tuple[int, int], doc: int) -> int:
    """The id behind the last row, where that is of the same file; else one is left free."""
    last = connection.execute(
        "SELECT id, doc FROM line WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", ids
    ).fetchone()
    if last is None:
        return ids[0]
    return int(last[0]) + (1 if last[1] == doc else 2)


def _other_form(text: str) -> str | None:
    """The searchable form where it is another text."""
    form = searchable(text)
    return None if form == text else form


def _delete_rows(connection: sqlite3.Connection, workspace: int, doc: int) -> None:
    for span in connection.execute("SELECT first, last FROM span WHERE doc = ?", (doc,)).fetchall():
        connection.execute(
            "INSERT INTO line_fts (line_fts, rowid, body) SELECT 'delete', id, body FROM body WHERE id BETWEEN ? AND ?",
            span,
        )
        connection.execute("DELETE FROM line WHERE id BETWEEN ? AND ?", span)
        connection.execute("DELETE FROM vector WHERE id BETWEEN ? AND ?", span)
        connection.execute("DELETE FROM stale WHERE first BETWEEN ? AND ?", span)
    connection.execute("DELETE FROM span WHERE doc = ?", (doc,))
    connection.execute("UPDATE workspace SET vectors = vectors + 1 WHERE id = ?", (workspace,))
