"""The SQLite file of the index: made, opened once a thread, checked, and set aside when it is damaged.

The file is derived data. One of another schema or a damaged one is moved out of the way, and the caller fills a new one.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness_nb.errors import StoreError
from harness_nb.store.files import make_folder, unusable
from harness_nb.store.locks import locked

SCHEMA_VERSION = 2

_SCHEMA = """
CREATE TABLE workspace (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, vectors INTEGER NOT NULL DEFAULT 0);
CREATE TABLE doc (
    id INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL, lines INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL, UNIQUE (workspace, path)
);
CREATE TABLE span (doc INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (doc, first))
    WITHOUT ROWID;
CREATE TABLE line (
    id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, line INTEGER NOT NULL, date TEXT, text TEXT NOT NULL, searchable TEXT
);
CREATE VIEW body AS SELECT id, coalesce(searchable, text) AS body FROM line;
CREATE VIRTUAL TABLE line_fts USING fts5(
    body, content='body', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TABLE vector (id INTEGER PRIMARY KEY, code BLOB NOT NULL);
CREATE TABLE stale (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
"""

_BROKEN_LINKS = """
SELECT 1 FROM span WHERE doc NOT IN (SELECT id FROM doc)
UNION ALL SELECT 1 FROM doc WHERE workspace NOT IN (SELECT id FROM workspace)
UNION ALL SELECT 1 WHERE (SELECT max(id) FROM line) IS NOT (SELECT max(last) FROM span)
UNION ALL SELECT 1 WHERE (SELECT max(id) FROM line) IS NOT (SELECT max(id) FROM line_fts_docsize)
UNION ALL SELECT 1 FROM (SELECT max(id) AS id FROM line) AS newest
    WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.id = newest.id)
    AND NOT EXISTS (SELECT 1 FROM stale WHERE first <= newest.id AND last >= newest.id)
LIMIT 1
"""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA}
_CACHE_KB = 16_384  # as much as it takes; with SQLite's 2 MB a search in a large index takes twice as long
_LARGEST_CHECKED_BYTES = 64 * 1024 * 1024
_WORD = re.compile(r"(?<![^ ])[A-Za-z0-9]+(?![^ ])")  # surely a whole word


class IndexDamaged(Exception):
    """The file holds no usable index."""


class IndexBusy(Exception):
    """Others kept the index locked for longer than the time given."""


class _Connection:
    """A connection of one thread, closed with the thread."""

    def __init__(self, raw: sqlite3.Connection, identity: tuple[int, int] | None) -> None:
        self.raw = raw
        self.identity = identity

    def __del__(self) -> None:
        self.raw.close()


class Database:
    """The file of an index.

    Args:
        path: Where it is, or will be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._open: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._checked: tuple[int, int] | None = None
        self._is_closed = False
        self.openings = 0
        """How many times a file was opened: as long as it stays the same, so does the file."""

    def connection(self) -> sqlite3.Connection:
        """The connection of this thread, opened when there is none or when the file is another one.

        Raises:
            IndexDamaged: The file is no index of this version.
            IndexBusy: It stays locked.
            StoreError: It can't be made or opened, the index was closed, or this SQLite has no FTS5.
        """
        if self._is_closed:
            raise StoreError(f"The index {str(self.path)!r} is closed.", "Open a new MemoryIndex.", subject=self.path)
        held: _Connection | None = getattr(self._local, "held", None)
        if held is not None and held.identity is not None and held.identity == self._identity():
            return held.raw
        self._local.held = None
        with reported(self.path):
            held = self._opened()
        self.openings += 1
        self._open.add(held)
        self._local.held = held
        return held.raw

    @contextmanager
    def atomic(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        """One transaction that writes: all of it happens, or nothing.

        Args:
            wait_seconds: How long to wait for other writers.

        Raises:
            IndexBusy: Others kept on writing.
            IndexDamaged: The file turned out to be damaged.
        """
        connection = self.connection()
        with reported(self.path):
            connection.execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def set_aside(self) -> Path:
        """Moves the file out of the way and returns where it went; does nothing if another process has done so.

        Raises:
            StoreError: It can't be moved.
        """
        aside = self.path.with_name(f"{self.path.name}.set-aside")
        bad = self._identity()
        self.release()
        try:
            with locked(self.path):
                if self._identity() == bad:
                    os.replace(self.path, aside)
                    for suffix in ("-wal", "-shm", "-journal"):
                        self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise unusable(self.path, "write", error) from error
        return aside

    def close(self) -> None:
        """Closes the connections of all threads, for good."""
        self._is_closed = True
        self.release()

    def release(self) -> None:
        """Closes the connections of all threads; the next use opens the file again."""
        self._local.held = None
        for connection in list(self._open):
            connection.identity = None
            connection.raw.close()
        self._open.clear()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _opened(self) -> _Connection:
        self._make_file()
        identity = self._identity()
        raw = sqlite3.connect(self.path, timeout=5.0, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(raw, identity)
        except BaseException:
            raw.close()
            raise
        return _Connection(raw, identity)

    def _prepare(self, raw: sqlite3.Connection, identity: tuple[int, int] | None) -> None:
        """Sets a connection up, and makes or checks what the file holds."""
        has_log = self._has_log()
        with suppress(sqlite3.OperationalError):  # a file system without shared memory, or another process is at it
            raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("PRAGMA synchronous = NORMAL")
        raw.execute(f"PRAGMA cache_size = {-_CACHE_KB}")
        self._make_schema(raw)
        if identity != self._checked:
            _check(raw, thorough=has_log and os.path.getsize(self.path) <= _LARGEST_CHECKED_BYTES)
            self._checked = identity

    def _make_file(self) -> None:
        """Makes the file for its owner only; SQLite gives its companions the same permissions."""
        try:
            make_folder(self.path.parent)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise unusable(self.path, "write", error) from error

    def _has_log(self) -> bool:
        """Whether changes wait in a file beside: after a crash, or left there by another database."""
        with suppress(OSError):
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size > 0
        return False

    def _make_schema(self, raw: sqlite3.Connection) -> None:
        version = _version(raw)
        if version == 0:
            with locked(self.path):
                version = _version(raw) or _create(raw)
        if version != SCHEMA_VERSION:
            raise IndexDamaged(f"it has schema {version}, and this version uses {SCHEMA_VERSION}")


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turns the errors of SQLite into those of this module, by what can be done.

    Raises:
        IndexBusy: Waiting may help.
        IndexDamaged: The file must be made again.
        StoreError: The user must do something.
    """
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise StoreError(f"The index {str(path)!r} is closed.", "Open a new MemoryIndex.", subject=path) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _BUSY:
            raise IndexBusy(str(error)) from error
        if "no such module" in str(error):
            raise StoreError(
                "This Python's SQLite has no FTS5, which the index needs.",
                "Use a Python with a full SQLite, such as one of python.org or conda.",
            ) from error
        if code in _DAMAGED:
            raise IndexDamaged(str(error)) from error
        raise StoreError(
            f"The index {str(path)!r} can't be used: {error}.",
            "Correct its permissions, free some space, or name another file with `database=`.",
            subject=path,
        ) from error


def _version(raw: sqlite3.Connection) -> int:
    version = int(raw.execute("PRAGMA user_version").fetchone()[0])
    is_foreign = version == 0 and raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    return -1 if is_foreign else version


def _create(raw: sqlite3.Connection) -> int:
    raw.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    return SCHEMA_VERSION


def _check(raw: sqlite3.Connection, *, thorough: bool) -> None:
    """Finds damage that would show as missing hits rather than as an error."""
    if thorough and (found := raw.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise IndexDamaged(found)
    if raw.execute(_BROKEN_LINKS).fetchone() is not None:
        raise IndexDamaged("its tables do not fit together")
    for order in ("ASC", "DESC"):
        row = raw.execute(f"SELECT id, body FROM body ORDER BY id {order} LIMIT 1").fetchone()  # noqa: S608
        word = _WORD.search(row[1]) if row is not None else None
        if word is not None and not _is_found(raw, word[0], row[0]):
            raise IndexDamaged("a line is not found by its own word")


def _is_found(raw: sqlite3.Connection, word: str, row_id: int) -> bool:
    found = "SELECT 1 FROM line_fts WHERE line_fts MATCH ? AND rowid = ?"
    return raw.execute(found, (f'"{word}"', row_id)).fetchone() is not None
