"""OpenClaw's search: chunks of the notes by words, in SQLite, and by meaning, merged."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.memory.designs.openclaw.chunker import Chunk, chunked
from harness_nb.memory.designs.openclaw.config import OpenClawSearchConfig
from harness_nb.memory.designs.openclaw.ranking import Row, boosted, decayed, merged, rank_score, selected
from harness_nb.memory.designs.openclaw.terms import Terms, fallback_terms, terms_of, word_runs
from harness_nb.store.files import read_text

if TYPE_CHECKING:
    import sqlite3

SNIPPET_CHARS = 700

KEPT_ASIDE = ("versions", "candidates")
"""Folders below `memory/` that hold no notes."""

Vector = Sequence[float]
Embedding = Callable[[Sequence[str]], Sequence[Vector]]
"""Gives a vector for each text."""


class _Indexed(NamedTuple):
    """A chunk of a note, its vector where there is one."""

    key: str
    path: str
    chunk: Chunk
    vector: Vector | None


class NoteSearch:
    """Finds chunks of MEMORY.md and the notes below `memory/`.

    What changed is taken in before each search. It can be used from several threads.

    Args:
        folder: The workspace.
        config: Settings.
        embedding: Gives vectors; None searches by words alone.
    """

    def __init__(self, folder: Path, config: OpenClawSearchConfig, embedding: Embedding | None = None) -> None:
        self.folder = folder
        self.config = config
        self._embedding = embedding
        self._lock = threading.Lock()
        self._stamps: dict[str, tuple[int, int]] = {}
        self._chunks: dict[str, list[_Indexed]] = {}
        self._database: sqlite3.Connection | None = None
        self._finalizer: weakref.finalize[..., NoteSearch] | None = None

    def close(self) -> None:
        """Frees the index; a later search makes it again."""
        with self._lock:
            self._closed()

    def _closed(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._database = self._finalizer = None

    def chunks(self) -> list[tuple[str, Chunk]]:
        """All chunks, by path and line."""
        with self._lock:
            self._refresh()
            return [(one.path, one.chunk) for path in sorted(self._chunks) for one in self._chunks[path]]

    def search(
        self, question: str, now: datetime, *, max_results: int | None = None, min_score: float | None = None
    ) -> list[Row]:
        """The best chunks, best first; none for a blank question.

        Args:
            question: What somebody asks.
            now: The aware time.
            max_results: Another limit than the setting's.
            min_score: Another floor than the setting's.
        """
        asked = question.strip()
        config = replace(
            self.config,
            max_results=self.config.max_results if max_results is None else max_results,
            min_score=self.config.min_score if min_score is None else min_score,
        )
        if not asked:
            return []
        with self._lock:
            self._refresh()
            return self._found(asked, config, now) if any(self._chunks.values()) else []

    def _found(self, asked: str, config: OpenClawSearchConfig, now: datetime) -> list[Row]:
        if self._embedding is None:
            rows = decayed(self._by_words(asked, config, boosts=True), config, now, self._changed)
            ranked = sorted(rows, key=lambda row: -row.score)
            return selected(ranked, ranked, config)
        keyword = self._by_words(asked, config, boosts=True) if config.hybrid else []
        vector = self._by_meaning(asked, config.candidates)
        if not config.hybrid:
            return [row for row in vector if row.score >= config.min_score][: config.max_results]
        return selected(merged(vector, keyword, config, now, self._changed), keyword, config)

    # By words

    def _by_words(self, asked: str, config: OpenClawSearchConfig, *, boosts: bool) -> list[Row]:
        """Hits by all words; with none, by single keywords, each chunk with its best."""
        found = self._matching(asked, config, boosts=boosts)
        if found:
            return found
        best: dict[str, Row] = {}
        for term in fallback_terms(asked, config.fts_tokenizer):
            for row in self._matching(term, config, boosts=boosts):
                known = best.get(row.key)
                if known is None or (row.text_score, row.score) > (known.text_score, known.score):
                    best[row.key] = row
        return sorted(best.values(), key=lambda row: -row.score)

    def _matching(self, asked: str, config: OpenClawSearchConfig, *, boosts: bool) -> list[Row]:
        terms = terms_of(asked, config.fts_tokenizer, config.fts_join)
        if terms.is_empty:
            return []
        rows, ranked = self._selected_from(terms, asked, config.candidates)
        by_key = {one.key: one for path in self._chunks.values() for one in path}
        found = []
        for key, rank in rows:
            one = by_key[key]
            score = rank_score(rank) if ranked else 1.0
            shown = boosted(asked, one.path, one.chunk.text, score) if boosts else score
            found.append(replace(_row(one), score=shown, text_score=score))
        return found

    def _selected_from(self, terms: Terms, asked: str, limit: int) -> tuple[list[tuple[str, float]], bool]:
        """Keys with their bm25 value, and whether there is one; where FTS refuses, chunks that hold every word."""
        import sqlite3

        database = self._opened()
        if terms.match is not None:
            sql = f"SELECT key, bm25(chunks) FROM chunks WHERE chunks MATCH ?{_likes(terms.substrings)} ORDER BY 2 LIMIT ?"  # noqa: S608 - marks only
            try:
                return database.execute(sql, (terms.match, *_patterns(terms.substrings), limit)).fetchall(), True
            except sqlite3.Error:
                terms = Terms(None, tuple(dict.fromkeys((*word_runs(asked), *terms.substrings))))
        sql = f"SELECT key, 0.0 FROM chunks WHERE 1{_likes(terms.substrings)} LIMIT ?"  # noqa: S608 - marks only
        return database.execute(sql, (*_patterns(terms.substrings), limit)).fetchall(), False

    # By meaning

    def _by_meaning(self, asked: str, limit: int) -> list[Row]:
        if self._embedding is None:
            return []
        (wanted,) = self._embedding([asked])
        if not any(wanted):
            return []
        found = []
        for path in self._chunks.values():
            for one in path:
                near = _cosine(wanted, one.vector or ())
                found.append(replace(_row(one), score=near, vector_score=near))
        return sorted(found, key=lambda row: -row.score)[:limit]

    # The index

    def _refresh(self) -> None:
        """Takes in what changed; the words are indexed anew when anything did."""
        stamps = {name: _stamp(self.folder / name) for name in note_names(self.folder)}
        if stamps == self._stamps and self._database is not None:
            return
        for name in self._stamps.keys() - stamps.keys():
            self._chunks.pop(name, None)
        for name, stamp in stamps.items():
            if self._stamps.get(name) != stamp:
                self._chunks[name] = self._read(name)
        self._stamps = stamps
        self._closed()

    def _read(self, name: str) -> list[_Indexed]:
        config = self.config
        text = read_text(self.folder / name) or ""
        chunks = chunked(text, config.chunk_tokens, config.chunk_overlap, bounded=config.bounded_overlap)
        kept = [chunk for chunk in chunks if chunk.text.strip()]
        vectors: Sequence[Vector | None] = [None] * len(kept)
        if self._embedding is not None and kept:
            vectors = self._embedding([chunk.text for chunk in kept])
        return [
            _Indexed(f"{name}:{at}", name, chunk, vector)
            for at, (chunk, vector) in enumerate(zip(kept, vectors, strict=True))
        ]

    def _opened(self) -> sqlite3.Connection:
        import sqlite3

        if self._database is None:
            made = sqlite3.connect(":memory:", check_same_thread=False)
            tokenizer = "trigram case_sensitive 0" if self.config.fts_tokenizer == "trigram" else "unicode61"
            with closing(made.cursor()) as cursor:
                cursor.execute(f"CREATE VIRTUAL TABLE chunks USING fts5(text, key UNINDEXED, tokenize='{tokenizer}')")
                rows = ((one.chunk.text, one.key) for name in self._stamps for one in self._chunks[name])
                cursor.executemany("INSERT INTO chunks VALUES (?, ?)", rows)
            self._database, self._finalizer = made, weakref.finalize(self, made.close)
        return self._database

    def _changed(self, row: Row) -> datetime | None:
        """When the file of a row was changed."""
        try:
            return datetime.fromtimestamp((self.folder / row.path).stat().st_mtime, UTC)
        except OSError:
            return None


def note_names(folder: Path) -> list[str]:
    """The notes of a workspace: MEMORY.md and what lies below `memory/`, no links, no versions and nothing hidden."""
    curated = ["MEMORY.md"] if (folder / "MEMORY.md").is_file() else []
    return [*curated, *sorted(_names(folder, folder / "memory"))]


def _names(folder: Path, place: Path) -> Iterable[str]:
    for path in sorted(place.rglob("*.md")) if place.is_dir() and not place.is_symlink() else ():
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not path.is_symlink() and not hidden and name.parts[1] not in KEPT_ASIDE:
            yield name.as_posix()


def _row(one: _Indexed) -> Row:
    text = one.chunk.text
    snippet = utf16_cut(text, 0, SNIPPET_CHARS) if utf16_len(text) > SNIPPET_CHARS else text
    return Row(
        key=one.key, path=one.path, start_line=one.chunk.start_line, end_line=one.chunk.end_line, snippet=snippet
    )


def _likes(substrings: Sequence[str]) -> str:
    return " AND text LIKE ? ESCAPE '\\'" * len(substrings)


def _patterns(substrings: Sequence[str]) -> list[str]:
    escaped = (one.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for one in substrings)
    return [f"%{one}%" for one in escaped]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _cosine(one: Vector, other: Vector) -> float:
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=False)) / lengths if lengths else 0.0
