"""Messages of all sessions in one SQLite file with two full-text tables: by words, and by three letters.

The file is derived from the session files and can be deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_nb.errors import StoreError
from harness_nb.memory.designs.hermes.query import Reading
from harness_nb.store.files import make_folder

MOST_HITS = 300
"""Hits that a search looks at."""

_SNIPPET_WORDS = 40
_ROLES = ("user", "assistant", "tool")

_SCHEMA = """
CREATE TABLE session (
    id TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT '', title TEXT, started REAL NOT NULL DEFAULT 0,
    taken INTEGER NOT NULL DEFAULT 0, shape TEXT NOT NULL DEFAULT ''
);
CREATE TABLE message (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, tool TEXT NOT NULL,
    calls TEXT NOT NULL, at INTEGER, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX message_session ON message (session, id);
CREATE VIRTUAL TABLE words USING fts5(text);
CREATE VIRTUAL TABLE letters USING fts5(text, tokenize='trigram');
CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
    INSERT INTO words (rowid, text) VALUES (new.id, new.content || ' ' || new.tool || ' ' || new.calls);
    INSERT INTO letters (rowid, text) VALUES (new.id, new.content || ' ' || new.tool || ' ' || new.calls);
END;
PRAGMA user_version = 1;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One stored message.

    Attributes:
        id: Number of the row; later ones are larger.
        session: Id of its session.
        role: Whose it is.
        content: Its text.
        at: Its log index; None for what stands for others.
        rank: Relevance, lower is better; 0 where nothing was ranked.
        snippet: The part that was found.
    """

    id: int
    session: str
    role: str
    content: str
    at: int | None
    rank: float = 0.0
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One stored session.

    Attributes:
        id: Its id.
        source: Where it came from, such as `cron`.
        title: Its title, None where it has none.
        messages: Rows that are live.
    """

    id: str
    source: str
    title: str | None
    messages: int


class SessionRows:
    """The file.

    Args:
        path: Where it is, or will be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection in one transaction.

        Raises:
            StoreError: The file can't be used.
        """
        try:
            make_folder(self.path.parent)
            with closing(sqlite3.connect(self.path, timeout=10)) as db:
                if db.execute("PRAGMA user_version").fetchone()[0] == 0:
                    db.executescript(_SCHEMA)
                with db:
                    yield db
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(
                f"{str(self.path)!r} can't be used: {error}.",
                "Delete it: it is made again from the session files.",
                subject=self.path,
            ) from error

    def add_session(self, id: str, *, source: str = "", title: str | None = None, started: float = 0.0) -> None:
        """Takes a session in, or changes what is known of it."""
        with self._open() as db:
            db.execute(
                "INSERT INTO session (id, source, title, started) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "source = excluded.source, title = excluded.title, started = excluded.started",
                (id, source, title, started),
            )

    def add(self, session: str, messages: Sequence[tuple[int | None, str, str, str, str]]) -> None:
        """Takes messages in: log index, role, content, name of the tool, calls as JSON."""
        with self._open() as db:
            db.executemany(
                "INSERT INTO message (session, at, role, content, tool, calls) VALUES (?, ?, ?, ?, ?, ?)",
                [(session, *one) for one in messages],
            )

    def archive(self, session: str, shown: Sequence[int], stand_ins: Sequence[tuple[str, str]]) -> None:
        """Notes a compaction in place: what is no longer shown is archived, and what stands for it comes in.

        Args:
            session: Its id.
            shown: Log indices that stay live.
            stand_ins: Role and text of what stands for the others.
        """
        with self._open() as db:
            db.execute(
                "UPDATE message SET active = 0, compacted = 1 WHERE session = ? AND active = 1 "
                "AND (at IS NULL OR at NOT IN (SELECT value FROM json_each(?)))",
                (session, json.dumps(list(shown))),
            )
            db.executemany(
                "INSERT INTO message (session, role, content, tool, calls) VALUES (?, ?, ?, '', '')",
                [(session, role, text) for role, text in stand_ins],
            )

    def rewind(self, session: str, start: int) -> None:
        """Hides messages from a log index on: neither live nor archived."""
        with self._open() as db:
            db.execute("UPDATE message SET active = 0, compacted = 0 WHERE session = ? AND at >= ?", (session, start))

    def state(self, session: str) -> tuple[int, str]:
        """How many messages of a session were taken in, and a mark of its list then."""
        with self._open() as db:
            row = db.execute("SELECT taken, shape FROM session WHERE id = ?", (session,)).fetchone()
        return (row[0], row[1]) if row else (0, "")

    def set_state(self, session: str, taken: int, shape: str) -> None:
        """Notes how many messages of a session were taken in, and a mark of its list."""
        with self._open() as db:
            db.execute("UPDATE session SET taken = ?, shape = ? WHERE id = ?", (taken, shape, session))

    def sessions(self) -> list[SessionRow]:
        """All sessions, the one that began last first."""
        with self._open() as db:
            found = db.execute(
                "SELECT s.id, s.source, s.title, (SELECT count(*) FROM message m WHERE m.session = s.id AND m.active) "
                "FROM session s ORDER BY s.started DESC, s.rowid DESC"
            ).fetchall()
        return [SessionRow(id=id, source=source, title=title, messages=count) for id, source, title, count in found]

    def of_session(self, session: str, *, only_live: bool) -> list[Row]:
        """The messages of a session, in order; without rewound ones, and on request without archived ones."""
        condition = "active = 1" if only_live else "(active = 1 OR compacted = 1)"
        with self._open() as db:
            found = db.execute(
                f"SELECT id, session, role, content, at FROM message WHERE session = ? AND {condition} ORDER BY id",  # noqa: S608 - fixed texts
                (session,),
            ).fetchall()
        return [_row(*one) for one in found]

    def search(self, reading: Reading, *, roles: Sequence[str] = _ROLES, most: int = MOST_HITS) -> list[Row]:
        """What a query finds, best first; with `like` newest first, rewound messages too, and any of the words is enough.

        Raises:
            sqlite3.OperationalError: SQLite does not understand the query.
        """
        if reading.way == "none":
            return []
        with closing(sqlite3.connect(self.path, timeout=10)) as db:
            statement, values = _like(reading, roles) if reading.way == "like" else _match(reading, roles)
            return [_row(*one) for one in db.execute(statement, (*values, most))]


def _row(id: int, session: str, role: str, content: str, at: int | None, rank: float = 0.0, snippet: str = "") -> Row:
    return Row(id=id, session=session, role=role, content=content, at=at, rank=rank, snippet=snippet)


def _match(reading: Reading, roles: Sequence[str]) -> tuple[str, list[str]]:
    table = "letters" if reading.way == "trigram" else "words"
    marks = ",".join("?" * len(roles))
    return (
        "SELECT m.id, m.session, m.role, m.content, m.at, f.rank, "  # noqa: S608 - fixed names and marks
        f"snippet({table}, 0, '>>>', '<<<', '...', {_SNIPPET_WORDS}) FROM {table} f JOIN message m ON m.id = f.rowid "
        f"WHERE {table} MATCH ? AND (m.active = 1 OR m.compacted = 1) AND m.role IN ({marks}) ORDER BY f.rank LIMIT ?"
    ), [reading.match, *roles]


def _like(reading: Reading, roles: Sequence[str]) -> tuple[str, list[str]]:
    any_word = " OR ".join("content || ' ' || tool || ' ' || calls LIKE ? ESCAPE '\\'" for _ in reading.words)
    marks = ",".join("?" * len(roles))
    return (
        "SELECT id, session, role, content, at, 0.0, substr(content, 1, 200) FROM message "  # noqa: S608 - marks only
        f"WHERE ({any_word}) AND role IN ({marks}) ORDER BY id DESC LIMIT ?"
    ), [*(f"%{_escaped(word)}%" for word in reading.words), *roles]


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
