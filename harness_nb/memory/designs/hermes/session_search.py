"""Search in past sessions in four shapes, told apart by what is given: discover, scroll, read, browse."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness_nb.memory.designs.hermes.query import Reading, every_word, read_query
from harness_nb.memory.designs.hermes.rows import Row, SessionRow, SessionRows

HIDDEN_SOURCES = frozenset({"subagent", "tool"})
DEMOTED_SOURCES = frozenset({"cron"})

DEFAULT_ROLES = ("user", "assistant")
_AROUND = 5
_BOOKENDS = 3
_LIMIT, _MOST_RESULTS = 3, 10
_WINDOW, _MOST_WINDOW = 5, 20
_READ_FIRST, _READ_LAST = 20, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One session that a search found.

    Attributes:
        session: The session.
        by: `message` or `title`.
        match: The best hit.
        window: Messages around it.
        opening: The first messages of the session, where they are not among these.
        closing: The last ones.
        before: Messages of the session in front of the hit that lie in its window, of any role.
        after: The same behind it.
    """

    session: SessionRow
    by: str
    match: Row
    window: tuple[Row, ...]
    opening: tuple[Row, ...] = ()
    closing: tuple[Row, ...] = ()
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What came of a call.

    Attributes:
        mode: `discover`, `scroll`, `read` or `browse`; empty after an error.
        found: Sessions, with `discover`.
        sessions: Sessions, with `browse`.
        rows: Messages, with `scroll` and `read`.
        before: Messages in front of the anchor, with `scroll`.
        after: The same behind it.
        total: Messages of the session, with `read`.
        error: `current_session` or `not_found`.
        note: What the model should know beside the result.
    """

    mode: str = ""
    found: tuple[Found, ...] = ()
    sessions: tuple[SessionRow, ...] = ()
    rows: tuple[Row, ...] = ()
    before: int = 0
    after: int = 0
    total: int = 0
    error: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSearch:
    """Searches sessions for one of them.

    Attributes:
        rows: The stored messages.
        current: Id of the session that asks; it is not found.
        finds_current: Whether it is, all the same.
        asks_again: Whether a query that SQLite refuses is searched once more with each word in quotes; without it
            nothing is found, as in Hermes.
    """

    rows: SessionRows
    current: str = ""
    finds_current: bool = False
    asks_again: bool = True
    hidden: frozenset[str] = field(default=HIDDEN_SOURCES)

    def discover(
        self, query: str, *, limit: int = _LIMIT, sort: str = "", roles: Sequence[str] = DEFAULT_ROLES
    ) -> Searched:
        """The best hit of each session, with what was said around it.

        Args:
            query: Words; quotes keep a phrase together.
            limit: Most sessions, 1 to 10.
            sort: `newest` or `oldest`; anything else is by relevance.
            roles: Whose messages are searched.
        """
        hits, note = self._hits(query, roles)
        if sort in ("newest", "oldest"):
            hits.sort(key=lambda row: row.id, reverse=sort == "newest")
        best: dict[str, Row] = {}
        for row in hits:
            best.setdefault(row.session, row)
        sessions = {one.id: one for one in self.rows.sessions() if self._is_open(one)}
        titled = next((one for one in sessions.values() if one.title and one.title == query.strip()), None)
        order = [id for id in best if id in sessions and (titled is None or id != titled.id)]
        order.sort(key=lambda id: sessions[id].source in DEMOTED_SOURCES)
        found = [] if titled is None else [self._titled(titled, best.get(titled.id), roles)]
        found += [self._around(sessions[id], best[id], "message", roles) for id in order]
        kept = [one for one in found if one is not None][: _within(limit, _LIMIT, _MOST_RESULTS)]
        return Searched(mode="discover", found=tuple(kept), note=note)

    def scroll(self, session: str, anchor: int, window: int = _WINDOW) -> Searched:
        """Messages around one, by number of its row."""
        if self._is_current(session):
            return Searched(error="current_session")
        rows = self.rows.of_session(session, only_live=False)
        at = next((at for at, row in enumerate(rows) if row.id == anchor), None)
        if at is None:
            return Searched(error="not_found")
        width = _within(window, _WINDOW, _MOST_WINDOW)
        start, stop = max(0, at - width), min(len(rows), at + width + 1)
        return Searched(mode="scroll", rows=tuple(rows[start:stop]), before=at - start, after=stop - at - 1)

    def read(self, session: str) -> Searched:
        """The first and the last live messages of a session."""
        if session not in {one.id for one in self.rows.sessions()}:
            return Searched(error="not_found")
        rows = self.rows.of_session(session, only_live=True)
        shown = rows if len(rows) <= _READ_FIRST + _READ_LAST else [*rows[:_READ_FIRST], *rows[-_READ_LAST:]]
        return Searched(mode="read", rows=tuple(shown), total=len(rows))

    def browse(self, limit: int = _LIMIT) -> Searched:
        """The sessions that began last."""
        shown = [one for one in self.rows.sessions() if self._is_open(one)]
        return Searched(mode="browse", sessions=tuple(shown[: _within(limit, _LIMIT, _MOST_RESULTS)]))

    def _is_open(self, session: SessionRow) -> bool:
        return session.source not in self.hidden and not self._is_current(session.id)

    def _is_current(self, session: str) -> bool:
        return bool(self.current) and session == self.current and not self.finds_current

    def _hits(self, query: str, roles: Sequence[str]) -> tuple[list[Row], str]:
        reading = read_query(query)
        try:
            return self.rows.search(reading, roles=roles), ""
        except sqlite3.OperationalError:
            if not self.asks_again:
                return [], ""
        plain = replace_reading(reading, every_word(query))
        note = "The query held punctuation that can't be searched; its words were looked for."
        return (self.rows.search(plain, roles=roles) if plain.match else []), note

    def _titled(self, session: SessionRow, hit: Row | None, roles: Sequence[str]) -> Found | None:
        first = next(iter(self.rows.of_session(session.id, only_live=False)), None)
        match = hit or first
        return None if match is None else self._around(session, match, "title", roles)

    def _around(self, session: SessionRow, match: Row, by: str, roles: Sequence[str]) -> Found:
        rows = self.rows.of_session(session.id, only_live=False)
        at = next((at for at, row in enumerate(rows) if row.id == match.id), 0)
        start, stop = max(0, at - _AROUND), min(len(rows), at + _AROUND + 1)
        shown = frozenset((*DEFAULT_ROLES, *roles))
        talk = [row for row in rows if row.role in shown]
        return Found(
            session=session,
            by=by,
            match=match,
            window=tuple(row for row in rows[start:stop] if row.role in shown),
            opening=tuple(row for row in talk[:_BOOKENDS] if start and row.id < rows[start].id),
            closing=tuple(row for row in talk[-_BOOKENDS:] if stop < len(rows) and row.id > rows[stop - 1].id),
            before=at - start,
            after=stop - at - 1,
        )


def replace_reading(reading: Reading, match: str) -> Reading:
    """The reading with another expression, searched by words."""
    return reading._replace(way="fts", match=match)


def _within(value: object, default: int, most: int) -> int:
    """A whole number from 1 on; the default for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    return max(1, min(value, most))
