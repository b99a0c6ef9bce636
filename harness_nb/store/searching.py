"""The statements that a search runs, on a connection of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from harness_nb.store.hits import Kind, SearchHit
from harness_nb.store.indexing import id_range
from harness_nb.store.query import like_pattern, searchable
from harness_nb.store.snippet import snippet

MOST_TIES = 4_096
"""Lines of equal rank that are put in order by date; among more of them the order of indexing decides."""

_RANKED = """
SELECT found.rank, doc.path, line.line, line.text, doc.kind, line.date
FROM (
    SELECT rowid, rank FROM line_fts WHERE line_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank LIMIT ?
) AS found JOIN line ON line.id = found.rowid JOIN doc ON doc.id = line.doc
"""
_CONTAINING = """
SELECT -({contained}) AS rank, doc.path, line.line, line.text, doc.kind, line.date
FROM line JOIN doc ON doc.id = line.doc
WHERE line.id BETWEEN ? AND ? AND rank < 0
ORDER BY rank, line.date DESC, doc.path, line.line LIMIT ?
"""
_CONTAINED = r"(line.text LIKE ? ESCAPE '\' OR coalesce(line.searchable, '') LIKE ? ESCAPE '\')"


class Found(NamedTuple):
    """One row of the answer."""

    rank: float
    path: str
    line: int
    text: str
    kind: Kind
    date: str | None

    def hit(self, words: Sequence[str]) -> SearchHit:
        """The hit, with an excerpt around the words."""
        day = date.fromisoformat(self.date) if self.date is not None else None
        return SearchHit(self.path, self.line, self.text, self.rank, snippet(self.text, words), self.kind, day)


def ranked(connection: sqlite3.Connection, workspace: int, expression: str, limit: int) -> list[Found]:
    """The best lines for an FTS5 expression; of equally ranked ones the newest first, then by path and line."""
    found = _best(connection, workspace, expression, limit + 1)
    if len(found) > limit and found[-1].rank == found[limit - 1].rank:  # which of equals come in is to be decided
        found = _best(connection, workspace, expression, limit + MOST_TIES)
    found.sort(key=lambda row: (row.path, row.line))
    found.sort(key=lambda row: row.date or "", reverse=True)
    found.sort(key=lambda row: row.rank)
    return found[:limit]


def _best(connection: sqlite3.Connection, workspace: int, expression: str, limit: int) -> list[Found]:
    found = connection.execute(_RANKED, (expression, *id_range(workspace), limit))
    return sorted((Found(*row) for row in found), key=lambda row: row.rank)


def containing(connection: sqlite3.Connection, workspace: int, parts: Sequence[str], limit: int) -> list[Found]:
    """The lines that contain most of the parts, newest first; the rank is minus their number."""
    patterns = [like_pattern(form) for part in parts for form in (part, searchable(part))]
    statement = _CONTAINING.format(contained=" + ".join([_CONTAINED] * len(parts)))
    return [Found(*row) for row in connection.execute(statement, (*patterns, *id_range(workspace), limit))]


def counted(connection: sqlite3.Connection, workspace: int) -> dict[str, int]:
    """How many files and lines the index holds of a workspace."""
    files = connection.execute("SELECT count(*) FROM doc WHERE workspace = ?", (workspace,)).fetchone()
    lines = connection.execute(
        "SELECT coalesce(sum(span.last - span.first + 1), 0) FROM span JOIN doc ON doc.id = span.doc WHERE workspace = ?",
        (workspace,),
    ).fetchone()
    return {"files": files[0], "lines": lines[0]}
