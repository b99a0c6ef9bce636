"""Full-text search over the files of a workspace, or of any folder."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harness_nb.errors import QueryError, StoreError
from harness_nb.store.database import Database, IndexBusy, IndexDamaged, reported
from harness_nb.store.documents import Stamp, kind_of, stamp_of, survey
from harness_nb.store.files import read_bytes
from harness_nb.store.fusion import POOL
from harness_nb.store.hits import SearchHits
from harness_nb.store.indexing import (
    id_ranges,
    index_file,
    index_words,
    known_files,
    make_workspace_id,
    merge_words,
    remove_file,
    workspace_id,
)
from harness_nb.store.query import Query, parse_query
from harness_nb.store.searching import Answer, by_words, counted, hits_of, in_one_order, matching, with_neighbours
from harness_nb.store.settings import Mode, check_limit, check_neighbours, checked_kinds, checked_mode
from harness_nb.store.vectors import Nearest, embed_batch, has_stale
from harness_nb.store.watch import Watch

if TYPE_CHECKING:
    from harness_nb.store.workspace import Workspace

FILE_NAME = "memory_index.db"
WAIT_SECONDS = 5.0
"""How long an update waits for other writers."""

_SEARCH_WAIT_SECONDS = 0.05
_BATCH_BYTES = 8_000_000
_MANY_ROWS = 1_000

_T = TypeVar("_T")


class MemoryIndex:
    """Finds lines of Markdown files and messages of session logs below a folder.

    The files are the truth: each search first takes in what changed in them, and a damaged index is made again. Only what
    others changed inside an old file, without replacing it, may be seen up to a second late. It can be used from several
    threads and processes at a time. Where another process is writing the index, a search answers from what is there.

    Args:
        folder: The folder to search.
        database: The index file; by default `memory_index.db` in the folder.

    Attributes:
        warnings: What went wrong without stopping anything, one sentence each.

    Raises:
        StoreError: There is no such folder.
    """

    def __init__(self, folder: str | Path, *, database: str | Path | None = None) -> None:
        self.folder = Path(os.path.realpath(Path(folder).expanduser()))
        if database is None and not self.folder.is_dir():
            raise StoreError(f"{str(folder)!r} is no folder.", "Name an existing folder to search.", subject=folder)
        self.path = Path(os.path.realpath(database)) if database is not None else self.folder / FILE_NAME
        self.warnings: list[str] = []
        self._name = _name_in(self.path, self.folder)
        self._database = Database(self.path)
        self._nearest = Nearest()
        self._watch: tuple[int, Watch | None] = (0, None)

    @classmethod
    def of(cls, workspace: Workspace) -> MemoryIndex:
        """The index of a workspace, in the file that it shares with its neighbours. The folder need not exist yet."""
        return cls(workspace.path, database=workspace.index_path)

    def __repr__(self) -> str:
        return f"MemoryIndex({str(self.folder)!r})"

    def __enter__(self) -> MemoryIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file, in all threads, for good."""
        self._database.close()

    def release(self) -> None:
        """Closes the file, in all threads; the next use opens it again."""
        self._database.release()

    def search(
        self,
        query: str | None,
        limit: int = 10,
        *,
        kinds: Collection[str] | None = None,
        neighbours: int = 0,
        mode: Mode = "keyword",
    ) -> SearchHits:
        """Finds lines with all words of a text, then those with any of them; parts of words where there is neither.

        Words are found in all their English forms, and frequent English words count only where there are no others. Of a
        large number of lines that match, a bounded one is ranked, and the result says so.

        Args:
            query: Any text. A phrase in double quotes is looked for as a whole; nothing else is syntax.
            limit: Most hits wanted.
            kinds: What the hits may be (`memory`, `daily`, `topic`, `session`, `archive`); all of these by default.
            neighbours: How many lines before and behind each hit come with it; they count among the limit.
            mode: `keyword`; `hybrid`, which joins places by words and by meaning and needs the extra `semantic`; or `auto`,
                hybrid where that is installed. The first hybrid search takes a second for each 30,000 lines.

        Raises:
            ConfigError: A setting is not valid, or the extra is not installed.
            StoreError: The index can't be made or opened.
        """
        check_limit(limit)
        check_neighbours(neighbours)
        chosen = checked_kinds(kinds)
        is_hybrid = checked_mode(mode) == "hybrid"
        parsed = parse_query(query)
        if not parsed.words:
            return SearchHits(query=parsed.text)

        def run(connection: sqlite3.Connection, workspace: int) -> Answer:
            ranges = id_ranges(workspace, chosen)
            if is_hybrid:
                answer = self._by_words_and_meaning(connection, workspace, ranges, parsed, limit)
            else:
                answer = by_words(connection, ranges, parsed, limit)
            return with_neighbours(connection, answer, neighbours, limit) if neighbours else answer

        return self._answer(parsed, run, embed=is_hybrid)

    def search_fts(self, expression: str, limit: int = 10) -> SearchHits:
        """Finds lines by an expression in the query syntax of SQLite's FTS5, with its operators.

        Raises:
            QueryError: The expression is not valid.
            ConfigError: The limit is no whole number above 0.
            StoreError: The index can't be made or opened.
        """
        check_limit(limit)

        def run(connection: sqlite3.Connection, workspace: int) -> Answer:
            try:
                return matching(connection, id_ranges(workspace), expression, limit)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                    raise
                raise QueryError(
                    f"{expression!r} is no FTS5 query: {error}.", "Correct it, or use search().", subject=expression
                ) from error

        return self._answer(Query(expression, parse_query(expression.replace('"', " ")).words), run)

    def refresh(self, wait_seconds: float = WAIT_SECONDS) -> bool:
        """Takes in all that changed in the files, and drops the files that are gone.

        Args:
            wait_seconds: How long to wait for other writers.

        Returns:
            Whether the index is up to date; False when others were writing it all the time.

        Raises:
            StoreError: The index can't be made or written.
        """
        return self._guarded(partial(self._take_in_all, wait_seconds), when_busy=False)

    def update(self, path: str | Path, wait_seconds: float = WAIT_SECONDS) -> bool:
        """Takes in one file that changed or is gone.

        Args:
            path: The file, absolute or relative to the folder.
            wait_seconds: How long to wait for other writers.

        Returns:
            Whether the file is up to date in the index; if not, the next refresh or search sees to it.

        Raises:
            StoreError: The index can't be made or written, or the file lies elsewhere.
        """
        full = self.folder / path
        if not full.is_relative_to(self.folder):
            raise StoreError(f"{str(path)!r} lies outside {str(self.folder)!r}.", "Name a file inside.", subject=path)
        name = full.relative_to(self.folder).as_posix()
        stamp = stamp_of(full) if kind_of(name) is not None else None
        return self._guarded(lambda: self._write({name: stamp}, wait_seconds) >= 0, when_busy=False)

    def rebuild(self) -> None:
        """Makes the rows of this folder again from its files.

        Raises:
            StoreError: The index can't be made or written, or others kept it locked.
        """
        if not self._guarded(self._rebuild, when_busy=False):
            raise StoreError(
                f"The index {str(self.path)!r} stayed locked.",
                "Another process is writing it: try again.",
                subject=self.path,
            )

    def counts(self) -> Mapping[str, int]:
        """How many `files` and `lines` of this folder the index holds."""
        return self._guarded(self._counts, when_busy={"files": 0, "lines": 0})

    def _counts(self) -> dict[str, int]:
        connection = self._database.connection()
        with reported(self.path):
            workspace = workspace_id(connection, self._name)
            return counted(connection, workspace) if workspace is not None else {"files": 0, "lines": 0}

    def _answer(self, query: Query, run: _Run, *, embed: bool = False) -> SearchHits:
        is_current = self._catch_up()
        if embed:
            self._guarded(self._embed, when_busy=None)
        answer = self._guarded(partial(self._read, run), when_busy=Answer())
        found = answer.found
        if not is_current:  # a file may be gone by now
            found = tuple(row for row in found if (self.folder / row.path).exists())
        stage = found[0].stage if found else ""
        words = query.words if stage in ("substring", "expression") else query.telling
        return SearchHits(
            partial(hits_of, found, words),
            query=query.text,
            stage=stage,
            ranked=answer.ranked,
            places=[(row.path, row.line) for row in found],
        )

    def _catch_up(self) -> bool:
        try:
            return self._guarded(self._is_unchanged, when_busy=False) or self.refresh(_SEARCH_WAIT_SECONDS)
        except StoreError as error:  # if it can't be read either, reading will say so
            self._warn(f"The search did not take in what changed: {error.problem}")
            return False

    def _is_unchanged(self) -> bool:
        """Whether the file of the index is the one that everything was taken in to, and nothing changed since."""
        self._database.connection()
        opening, watch = self._watch
        return watch is not None and opening == self._database.openings and watch.is_unchanged()

    def _by_words_and_meaning(
        self,
        connection: sqlite3.Connection,
        workspace: int,
        ranges: Sequence[tuple[int, int]],
        query: Query,
        limit: int,
    ) -> Answer:
        pool = max(POOL, limit)
        answer = by_words(connection, ranges, query, pool)
        near = self._nearest.find(connection, self._database.openings, workspace, ranges, query.text)
        return in_one_order(connection, answer, near[:pool], limit)

    def _embed(self) -> None:
        """Makes the vectors that are missing, batch by batch."""
        connection = self._database.connection()
        with reported(self.path):
            workspace = workspace_id(connection, self._name)
            if workspace is None:
                return
            ((low, high),) = id_ranges(workspace)
            is_stale = has_stale(connection, (low, high))
        while is_stale:
            with self._database.atomic(_SEARCH_WAIT_SECONDS) as connection:
                is_stale = embed_batch(connection, workspace, (low, high))

    def _read(self, run: _Run) -> Answer:
        connection = self._database.connection()
        with reported(self.path):
            workspace = workspace_id(connection, self._name)
            return run(connection, workspace) if workspace is not None else Answer()

    def _take_in_all(self, wait_seconds: float) -> bool:
        """Brings all rows up to date; from then on a watch tells whether anything changed."""
        self._watch = (0, None)
        seen_at, seen_ns = time.monotonic(), time.time_ns()
        found = survey(self.folder)
        opening = self._refresh(found.files, wait_seconds)
        self._watch = (opening, Watch.of(self.folder, found, seen_at, seen_ns))
        return True

    def _refresh(self, found: Mapping[str, Stamp], wait_seconds: float) -> int:
        """Takes in what changed; returns which opening of the index holds it."""
        connection = self._database.connection()
        with reported(self.path):
            workspace = workspace_id(connection, self._name)
            known = known_files(connection, workspace) if workspace is not None else {}
        opening = self._database.openings
        changed: dict[str, Stamp | None] = {
            name: stamp for name, stamp in found.items() if name not in known or not known[name].is_current(stamp)
        }
        changed |= {name: None for name in known if name not in found}
        new = sum(self._write(batch, wait_seconds) for batch in _batches(changed))
        if new >= _MANY_ROWS:
            with self._database.atomic(wait_seconds) as connection:
                merge_words(connection, new)
        return opening

    def _write(self, changed: Mapping[str, Stamp | None], wait_seconds: float) -> int:
        """Brings some files up to date in one transaction; returns how many rows are new."""
        with self._database.atomic(wait_seconds) as connection:
            workspace = make_workspace_id(connection, self._name)
            spans = []
            for name, stamp in changed.items():
                data = self._content(name) if stamp is not None else None
                if stamp is None or data is None:
                    remove_file(connection, workspace, name)
                elif (span := index_file(connection, workspace, name, stamp, data)) is not None:
                    spans.append(span)
            index_words(connection, spans)
        return sum(last - first + 1 for first, last in spans)

    def _content(self, name: str) -> bytes | None:
        try:
            return read_bytes(self.folder / name)
        except StoreError as error:
            self._warn(f"{error.problem} It is left out of the index.")
            return None

    def _rebuild(self) -> bool:
        with self._database.atomic(WAIT_SECONDS) as connection:
            workspace = make_workspace_id(connection, self._name)
            for name in known_files(connection, workspace):
                remove_file(connection, workspace, name)
        return self._take_in_all(WAIT_SECONDS)

    def _guarded(self, run: Callable[[], _T], *, when_busy: _T) -> _T:
        """Runs; makes the index again when it turns out to be damaged."""
        try:
            try:
                return run()
            except IndexDamaged as damage:
                self._replace(damage)
                return run()
        except IndexBusy:
            return when_busy
        except IndexDamaged as damage:
            raise StoreError(
                f"The index {str(self.path)!r} can't be used: {damage}.",
                "Delete the file; it is made again from the files that it was made from.",
                subject=self.path,
            ) from damage

    def _replace(self, damage: IndexDamaged) -> None:
        aside = self._database.set_aside()
        self._warn(f"The index was not usable ({damage}): set aside as {aside.name!r} and made again.")
        self._take_in_all(WAIT_SECONDS)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


_Run = Callable[[sqlite3.Connection, int], Answer]


def _name_in(database: Path, folder: Path) -> str:
    """Name of a folder in an index: where it lies seen from the file, so that both can be moved together."""
    try:
        return folder.relative_to(database.parent).as_posix()
    except ValueError:
        return str(folder)


def _batches(changed: Mapping[str, Stamp | None]) -> Iterator[dict[str, Stamp | None]]:
    """The files in groups that are written in one transaction each, so that no writer waits for long."""
    batch: dict[str, Stamp | None] = {}
    size = 0
    for name, stamp in sorted(changed.items(), key=_changed_at):  # the newest get the highest ids
        batch[name] = stamp
        size += stamp.size if stamp is not None else 0
        if size > _BATCH_BYTES:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _changed_at(change: tuple[str, Stamp | None]) -> tuple[int, str]:
    name, stamp = change
    return (stamp.mtime_ns if stamp is not None else 0), name
