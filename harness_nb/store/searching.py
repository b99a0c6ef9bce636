"""The statements that a search runs, on a connection of the caller.

However large an index is, a search ranks a bounded number of lines: of those that match the ones that come first by id
from above, which are curated memory first, then logs, other files, sessions, of each the newest. What it adds to the bm25
value of a line is a share of the values of the two lines beside it, since in logs an answer stands beside its question.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import attrgetter, itemgetter
from typing import NamedTuple

from harness_nb.store.frequency import frequent, is_large, lines_with, rarest, total_rows
from harness_nb.store.fusion import fused
from harness_nb.store.hits import Kind, SearchHit, Stage
from harness_nb.store.query import Query, all_of, any_of, like_pattern, phrase, searchable
from harness_nb.store.snippet import snippet

MOST_RANKED = 2_000
"""Lines that one query ranks, at some two microseconds each."""

NEIGHBOUR_SHARE = 0.25
"""How much of the value of the line before and of the one behind a line has."""

MOST_LOOKED_THROUGH = 40_000
"""Lines that are looked through for parts of words."""

_MOST_TIES = 50  # lines of equal rank that are put in order by date; among more of them the later written count

Range = tuple[int, int]

_MATCHING = """
SELECT rowid, {rank} FROM line_fts WHERE line_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?
"""
_RANKED = _MATCHING.format(rank="rank")
_UNRANKED = _MATCHING.format(rank="0.0")
_CONTAINING = """
SELECT id, -({contained}) AS rank FROM (SELECT * FROM line WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?)
WHERE rank < 0 ORDER BY rank, date DESC LIMIT ?
"""
_CONTAINED = r"(text LIKE ? ESCAPE '\' OR coalesce(searchable, '') LIKE ? ESCAPE '\')"
_ROWS = """
SELECT line.id, line.doc, doc.path, line.line, line.text, doc.kind, line.date
FROM line JOIN doc ON doc.id = line.doc WHERE line.id IN (SELECT value FROM json_each(?))
"""


Ranked = tuple[int, float]
"""Id and rank of a line: a plain pair, as thousands of them are made for a search."""

_Row = tuple[int, int, str, int, str, Kind, str | None]


class Found(NamedTuple):
    """One line of the answer."""

    id: int
    doc: int
    path: str
    line: int
    text: str
    kind: Kind
    date: str | None
    rank: float = 0.0
    stage: Stage = ""
    keyword_rank: int | None = None
    vector_rank: int | None = None

    def hit(self, words: Sequence[str]) -> SearchHit:
        """The hit, with an excerpt around the words."""
        day = date.fromisoformat(self.date) if self.date is not None else None
        excerpt = snippet(self.text, words)
        places = self.keyword_rank, self.vector_rank
        return SearchHit(self.path, self.line, self.text, self.rank, excerpt, self.kind, day, self.stage, *places)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, best first.

    Attributes:
        found: The lines.
        ranked: How many lines were ranked, where that is not all that match.
    """

    found: tuple[Found, ...] = ()
    ranked: int | None = None


def hits_of(found: Sequence[Found], words: Sequence[str]) -> list[SearchHit]:
    """The hits, with excerpts around the words."""
    return [row.hit(words) for row in found]


def by_words(connection: sqlite3.Connection, ranges: Sequence[Range], query: Query, limit: int) -> Answer:
    """Lines with all words, then those with any of them, and lines with parts of words where no line has one."""
    answer = _with_words(connection, ranges, query.telling, limit) if query.telling else Answer()
    return answer if answer.found else containing(connection, ranges, query.parts, limit)


def _with_words(connection: sqlite3.Connection, ranges: Sequence[Range], words: Sequence[str], limit: int) -> Answer:
    rows = total_rows(connection)
    common = frequent(connection, _hull(ranges), words) if is_large(rows) else ()
    telling = [word for word in words if word not in common]
    answer = _with_telling(connection, ranges, telling, limit, rows) if telling else Answer()
    if answer.found or not common:
        return answer
    answer = matching(connection, ranges, all_of(words), limit, "all words", is_ranked=False)
    return answer if answer.found else matching(connection, ranges, any_of(words), limit, "any word", is_ranked=False)


def _with_telling(
    connection: sqlite3.Connection, ranges: Sequence[Range], telling: Sequence[str], limit: int, rows: int
) -> Answer:
    """Lines with words that are not too frequent to be ranked by."""
    if len(telling) == 1:
        return matching(connection, ranges, phrase(telling[0]), limit, "all words")
    if not is_large(rows) or lines_with(connection, _hull(ranges), any_of(telling), MOST_RANKED + 1) <= MOST_RANKED:
        matches = _matches(connection, ranges, any_of(telling), MOST_RANKED + 1)
        if len(matches) <= MOST_RANKED:
            return _in_one_pass(connection, ranges, telling, matches, limit)
    return _in_two_passes(connection, ranges, telling, limit)


def _in_two_passes(connection: sqlite3.Connection, ranges: Sequence[Range], words: Sequence[str], limit: int) -> Answer:
    """Lines with all words, then those with any of the rarest, where more lines match than are ranked."""
    answer = matching(connection, ranges, all_of(words), limit, "all words")
    if len(answer.found) >= limit:
        return answer
    some = rarest(connection, _hull(ranges), words, MOST_RANKED)
    more = matching(connection, ranges, any_of(some), limit, "any word")
    known = {row.id for row in answer.found}
    found = answer.found + tuple(row for row in more.found if row.id not in known)
    return Answer(found[:limit], MOST_RANKED)


def _in_one_pass(
    connection: sqlite3.Connection,
    ranges: Sequence[Range],
    words: Sequence[str],
    matches: Sequence[Ranked],
    limit: int,
) -> Answer:
    """Lines with all words, then the others that match, where all that match are ranked."""
    matches = with_shares(matches)
    with_all = {id for id, _ in _matches(connection, ranges, all_of(words), MOST_RANKED, is_ranked=False)}
    first = _best([match for match in matches if match[0] in with_all], limit)
    then = _best([match for match in matches if match[0] not in with_all], limit - len(first))
    rows = fetched(connection, first, "all words") + fetched(connection, then, "any word")
    found = _in_order(row for row in rows if row.id in with_all) + _in_order(
        row for row in rows if row.id not in with_all
    )
    return Answer(found[:limit])


def matching(
    connection: sqlite3.Connection,
    ranges: Sequence[Range],
    expression: str,
    limit: int,
    stage: Stage = "expression",
    *,
    is_ranked: bool = True,
) -> Answer:
    """The best lines for an FTS5 expression; of equally ranked ones the newest first, then by path and line."""
    bound = MOST_RANKED if is_ranked else limit
    matches = _matches(connection, ranges, expression, bound + 1, is_ranked=is_ranked)
    best = _best(with_shares(matches[:bound]), limit)
    found = _in_order(fetched(connection, best, stage))
    is_bounded = len(matches) > bound
    return Answer(found[:limit], (bound if is_ranked else 0) if is_bounded else None)


def _matches(
    connection: sqlite3.Connection, ranges: Sequence[Range], expression: str, most: int, *, is_ranked: bool = True
) -> list[Ranked]:
    """The lines that match, by descending id."""
    found: list[Ranked] = []
    for low, high in ranges:
        statement = _RANKED if is_ranked else _UNRANKED
        found += connection.execute(statement, (expression, low, high, most - len(found))).fetchall()
    return found


def with_shares(matches: Sequence[Ranked]) -> list[Ranked]:
    """Each line with a share of the rank of the lines beside it.

    Args:
        matches: By descending id.
    """
    shared = list(matches)
    later, rank_of_later = -1, 0.0
    for at, (id, rank) in enumerate(matches):
        if later - id == 1:
            shared[at - 1] = later, shared[at - 1][1] + NEIGHBOUR_SHARE * rank
            shared[at] = id, rank + NEIGHBOUR_SHARE * rank_of_later
        later, rank_of_later = id, rank
    return shared


def _best(matches: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The best, and those that are as good as the last of them."""
    if len(matches) <= limit or limit <= 0:
        return list(matches[: max(limit, 0)])
    last = sorted([rank for _, rank in matches])[limit - 1]
    good = sorted((match for match in matches if match[1] <= last), key=itemgetter(1))
    return good[: limit + _MOST_TIES]


def _in_order(found: Iterable[Found]) -> tuple[Found, ...]:
    """Best first; of equally good lines the newest first, then by path and line."""
    by_place = sorted(found, key=attrgetter("path", "line"))
    by_date = sorted(by_place, key=lambda row: row.date or "", reverse=True)
    return tuple(sorted(by_date, key=attrgetter("rank")))


def fetched(connection: sqlite3.Connection, ranked: Iterable[Ranked], stage: Stage = "") -> list[Found]:
    """The lines of ids, in the order of these."""
    order = list(ranked)
    if not order:
        return []
    ids = json.dumps([one[0] for one in order])
    rows: dict[int, _Row] = {row[0]: row for row in connection.execute(_ROWS, (ids,))}
    return [Found(*rows[id], rank, stage) for id, rank in order if id in rows]


def containing(connection: sqlite3.Connection, ranges: Sequence[Range], parts: Sequence[str], limit: int) -> Answer:
    """The lines that contain most of the parts, newest first; the rank is minus their number.

    In a large index a bounded number of lines is looked through, and the answer says so.
    """
    patterns = [like_pattern(form) for part in parts for form in (part, searchable(part))]
    statement = _CONTAINING.format(contained=" + ".join([_CONTAINED] * len(parts)))
    is_bounded = total_rows(connection) > MOST_LOOKED_THROUGH
    left = MOST_LOOKED_THROUGH if is_bounded else -1
    rows: list[Ranked] = []
    for low, high in ranges:
        rows += connection.execute(statement, (*patterns, low, high, left, limit)).fetchall()
    found = _in_order(fetched(connection, rows, "substring"))
    return Answer(found[:limit], MOST_LOOKED_THROUGH if is_bounded else None)


def in_one_order(connection: sqlite3.Connection, answer: Answer, near: Sequence[int], limit: int) -> Answer:
    """The lines found by words and those near in meaning, in one order; the rank is minus the fused value."""
    by_words = {row.id: row for row in answer.found}
    places = fused(list(by_words), near)[:limit]
    others = fetched(connection, [(one.id, 0.0) for one in places if one.id not in by_words], "meaning")
    rows = by_words | {row.id: row for row in others}
    found = (
        rows[one.id]._replace(rank=-one.value, keyword_rank=one.keyword_rank, vector_rank=one.vector_rank)
        for one in places
        if one.id in rows
    )
    return replace(answer, found=tuple(found))


def with_neighbours(connection: sqlite3.Connection, answer: Answer, count: int, limit: int) -> Answer:
    """Each hit followed by the lines beside it in its file, all counted.

    Args:
        connection: Reads the index.
        answer: The hits.
        count: How many lines before and as many behind each.
        limit: Most lines in all.
    """
    hits = {row.id: row for row in answer.found}
    result: dict[int, Found] = {}
    for row in answer.found:
        if len(result) >= limit:
            break
        result.setdefault(row.id, row)
        new = [(id, row.rank) for id in _beside(connection, row, count) if id not in result]
        result |= {one.id: hits.get(one.id, one) for one in fetched(connection, new, "neighbour")}
    return replace(answer, found=tuple(result.values())[:limit])


def _beside(connection: sqlite3.Connection, row: Found, count: int) -> list[int]:
    """Ids of the lines beside one, nearest first, the one before ahead of the one behind."""
    before = connection.execute(
        "SELECT first, min(last, ?) FROM span WHERE doc = ? AND first < ? ORDER BY first DESC LIMIT ?",
        (row.id - 1, row.doc, row.id, count),
    )
    behind = connection.execute(
        "SELECT max(first, ?), last FROM span WHERE doc = ? AND last > ? ORDER BY first LIMIT ?",
        (row.id + 1, row.doc, row.id, count),
    )
    earlier = [id for first, last in before for id in range(last, max(first, last - count + 1) - 1, -1)][:count]
    later = [id for first, last in behind for id in range(first, min(last, first + count - 1) + 1)][:count]
    pairs = [pair for at in range(count) for pair in (earlier[at : at + 1], later[at : at + 1])]
    return [id for pair in pairs for id in pair]


def counted(connection: sqlite3.Connection, workspace: int) -> dict[str, int]:
    """How many files and lines the index holds of a workspace."""
    files = connection.execute("SELECT count(*) FROM doc WHERE workspace = ?", (workspace,)).fetchone()
    lines = connection.execute(
        "SELECT coalesce(sum(span.last - span.first + 1), 0) FROM span JOIN doc ON doc.id = span.doc WHERE workspace = ?",
        (workspace,),
    ).fetchone()
    return {"files": files[0], "lines": lines[0]}


def _hull(ranges: Collection[Range]) -> Range:
    """The range that holds all of them."""
    return min(low for low, _ in ranges), max(high for _, high in ranges)
