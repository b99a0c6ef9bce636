"""Lines by meaning: vectors of all lines of a workspace, made once, kept in the index and searched in bounded time.

A line is embedded together with the lines beside it. The index keeps 256 bytes a line. In memory there are 32: the signs of
the components, which pick the lines to compare exactly.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_nb.store.semantic import DIMENSIONS, LONGEST_CHARS, unit, vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPARED = 500
"""Lines that are compared exactly."""

LEAST_SIMILARITY = 0.2
"""Cosine below which a line has nothing to do with a query."""

_WORDS = DIMENSIONS // 64
_BATCH = 4_096

_STALE = """
SELECT stale.first, stale.last FROM stale WHERE stale.first BETWEEN ? AND ? ORDER BY stale.first DESC LIMIT 1
"""
_TEXTS = f"SELECT id, substr(text, 1, {LONGEST_CHARS}) FROM line WHERE id BETWEEN ? AND ? ORDER BY id"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of the vectors of a workspace.

    Attributes:
        version: State of the vectors in the index that these are of.
        ids: Of the lines, ascending; shape (lines,).
        words: The signs, 64 in each; shape (4, lines).
    """

    version: tuple[int, int]
    ids: NDArray[np.int64]
    words: NDArray[np.uint64]


class Nearest:
    """Finds the lines that are nearest to a query in meaning. Any thread may use it."""

    def __init__(self) -> None:
        self._signs: Signs | None = None
        self._lock = threading.Lock()

    def find(
        self,
        connection: sqlite3.Connection,
        opening: int,
        workspace: int,
        ranges: Sequence[tuple[int, int]],
        text: str,
    ) -> list[int]:
        """Ids of the lines that are near to a text in meaning, the nearest first.

        Args:
            connection: Reads the index.
            opening: Another number means another file.
            workspace: Number of the workspace.
            ranges: Ids that count.
            text: The query.
        """
        import numpy as np

        query = vectors([text])[0]
        signs = self._current(connection, opening, workspace)
        near = [_nearest_by_signs(signs, low, high, query) for low, high in ranges]
        candidates = np.concatenate(near) if near else np.zeros(0, np.int64)
        rows = connection.execute(
            "SELECT id, code FROM vector WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(candidates.tolist()),),
        ).fetchall()
        if not rows:
            return []
        codes = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), DIMENSIONS)
        similar = unit(codes.astype(np.float32)) @ query
        order = np.argsort(-similar, kind="stable")
        return [rows[at][0] for at in order if similar[at] >= LEAST_SIMILARITY]

    def _current(self, connection: sqlite3.Connection, opening: int, workspace: int) -> Signs:
        """The signs as the index has them, read again when others changed them."""
        row = connection.execute("SELECT vectors FROM workspace WHERE id = ?", (workspace,)).fetchone()
        version = (opening, row[0])
        with self._lock:
            if self._signs is None or self._signs.version != version:
                self._signs = _read(connection, workspace, version)
            return self._signs


def embed_batch(connection: sqlite3.Connection, workspace: int, ids: tuple[int, int]) -> bool:
    """Makes the vectors of some lines that have none or whose neighbours changed, the later lines first.

    Args:
        connection: Inside a transaction.
        workspace: Number of the workspace.
        ids: First and last id of its lines.

    Returns:
        Whether there may be more to do.
    """
    row = connection.execute(_STALE, ids).fetchone()
    if row is None:
        return False
    first, last = max(row[0], row[1] - _BATCH + 1), row[1]
    made = _codes(connection.execute(_TEXTS, (first - 1, last + 1)).fetchall())
    codes = [(id, code) for id, code in made if first <= id <= last]
    connection.executemany("INSERT OR REPLACE INTO vector (id, code) VALUES (?, ?)", codes)
    if first > row[0]:
        connection.execute("UPDATE stale SET last = ? WHERE first = ?", (first - 1, row[0]))
    else:
        connection.execute("DELETE FROM stale WHERE first = ?", (row[0],))
    connection.execute("UPDATE workspace SET vectors = vectors + 1 WHERE id = ?", (workspace,))
    return True


def has_stale(connection: sqlite3.Connection, ids: tuple[int, int]) -> bool:
    """Whether vectors are to be made."""
    return connection.execute(_STALE, ids).fetchone() is not None


def _codes(rows: Sequence[tuple[int, str]]) -> list[tuple[int, bytes]]:
    """A code for each line: the vector of it and its neighbours, scaled to bytes."""
    import numpy as np

    if not rows:
        return []
    ids = np.array([row[0] for row in rows], np.int64)
    alone = vectors([row[1] for row in rows])
    are_neighbours = (ids[1:] - ids[:-1] == 1)[:, None]
    together = alone.copy()
    together[1:] += alone[:-1] * are_neighbours
    together[:-1] += alone[1:] * are_neighbours
    largest = np.abs(together).max(axis=1, keepdims=True)
    codes = np.rint(together / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    return [(row[0], code.tobytes()) for row, code in zip(rows, codes, strict=True)]


def _read(connection: sqlite3.Connection, workspace: int, version: tuple[int, int]) -> Signs:
    import numpy as np

    from harness_nb.store.indexing import id_ranges

    ((low, high),) = id_ranges(workspace)
    rows = connection.execute(
        "SELECT id, code FROM vector WHERE id BETWEEN ? AND ? ORDER BY id", (low, high)
    ).fetchall()
    ids = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    codes = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), DIMENSIONS)
    return Signs(version, ids, np.ascontiguousarray(_signs(codes).T))


def _signs(rows: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """The signs of each row's components, 64 in a number; shape (rows, 4)."""
    import numpy as np

    return np.packbits(rows > 0, axis=1).view(np.uint64).reshape(len(rows), _WORDS)


def _nearest_by_signs(signs: Signs, low: int, high: int, query: NDArray[np.float32]) -> NDArray[np.int64]:
    """Ids of the lines that have most signs in common with the query."""
    import numpy as np

    start, end = np.searchsorted(signs.ids, (low, high + 1))
    if end - start <= COMPARED:
        return signs.ids[start:end]
    wanted = _signs(query[None, :])[0]
    differing = np.zeros(end - start, np.uint16)
    for word, one in zip(signs.words, wanted, strict=True):
        differing += _ones(word[start:end] ^ one)
    most = int(np.searchsorted(np.cumsum(np.bincount(differing, minlength=DIMENSIONS + 1)), COMPARED))
    return signs.ids[start:end][np.flatnonzero(differing <= most)][-2 * COMPARED :]


def _ones(numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """How many bits are set in each number."""
    import numpy as np

    return np.bitwise_count(numbers)
