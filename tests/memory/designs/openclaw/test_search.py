from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness_nb.memory.designs.openclaw.config import OpenClawSearchConfig
from harness_nb.memory.designs.openclaw.search import NoteSearch, note_names

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)


@pytest.fixture
def folder(workspace: Path) -> Path:
    (workspace / "memory").mkdir()
    put(workspace, "MEMORY.md", "# Facts\nDeploys happen on Tuesday\n")
    put(workspace, "memory/2026-04-11.md", "The database migration was decided\n")
    put(workspace, "memory/2026-03-01.md", "The database has a backup\n")
    return workspace


@pytest.fixture
def made(folder: Path) -> Iterator[Any]:
    opened: list[NoteSearch] = []

    def make(embedding: Any = None, **settings: Any) -> NoteSearch:
        opened.append(NoteSearch(folder, OpenClawSearchConfig(**settings), embedding))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def meaning(texts: Sequence[str]) -> list[list[float]]:
    """A vector that knows two things: data, and days."""
    known = (("database", "storage"), ("tuesday", "weekday"))
    return [[float(any(word in text.lower() for word in group)) for group in known] for text in texts]


def paths(search: NoteSearch, question: str, **values: Any) -> list[str]:
    return [row.path for row in search.search(question, NOW, **values)]


# What is searched


def test_notes_are_memory_and_what_lies_below_its_folder(folder: Path) -> None:
    for name in (
        "memory/topics/a.md",
        "memory/.dreams/x.md",
        "memory/versions/1.md",
        "memory/candidates/1.md",
        "other.md",
    ):
        put(folder, name, "text")
    put(folder, "memory/a.txt", "text")
    (folder / "memory" / "link.md").symlink_to(folder / "other.md")
    assert note_names(folder) == ["MEMORY.md", "memory/2026-03-01.md", "memory/2026-04-11.md", "memory/topics/a.md"]


def test_what_changes_is_found_at_once(folder: Path, made: Any) -> None:
    search = made()
    assert paths(search, "kubernetes") == []
    put(folder, "memory/2026-04-12.md", "We use kubernetes")
    assert paths(search, "kubernetes") == ["memory/2026-04-12.md"]
    (folder / "memory/2026-04-12.md").unlink()
    assert paths(search, "kubernetes") == []
    search.close()
    assert paths(search, "backup") == ["memory/2026-03-01.md"]


def test_an_empty_place_finds_nothing(tmp_path: Path) -> None:
    search = NoteSearch(tmp_path, OpenClawSearchConfig())
    assert search.search("x", NOW) == [] and search.chunks() == []
    search.close()


# By words


def test_a_chunk_holds_every_word_and_otherwise_keywords_are_tried(made: Any) -> None:
    search = made()
    assert paths(search, "database migration") == ["memory/2026-04-11.md"]
    assert sorted(paths(search, "what about the database, please?")) == ["memory/2026-03-01.md", "memory/2026-04-11.md"]
    assert paths(search, " ") == [] == paths(search, "?!")
    both = made(fts_join="or")
    assert set(paths(both, "database Tuesday")) == {"MEMORY.md", "memory/2026-03-01.md", "memory/2026-04-11.md"}


def test_a_hit_says_where_it_stands(made: Any) -> None:
    (row,) = made().search("Tuesday", NOW)
    assert (row.path, row.start_line, row.end_line, row.vector_score) == ("MEMORY.md", 1, 3, 0)
    assert "Deploys happen" in row.snippet and 0 < row.text_score <= row.score <= 1


def test_limit_and_floor_may_be_given_with_a_question(made: Any) -> None:
    search = made()
    assert len(paths(search, "database", max_results=1)) == 1
    assert paths(made(relax_floor=False), "database", min_score=1) == []
    assert len(paths(search, "database", min_score=1)) == 2


def test_a_long_chunk_is_shown_by_its_beginning(folder: Path, made: Any) -> None:
    put(folder, "memory/long.md", "unicorn " + "x" * 1_000)
    (row,) = made().search("unicorn", NOW)
    assert len(row.snippet) == 700


def test_trigrams_find_parts_of_words_and_short_ones_of_east_asia(folder: Path, made: Any) -> None:
    put(folder, "memory/zh.md", "我们决定了部署方案 100%")
    assert paths(made(), "部署") == []
    search = made(fts_tokenizer="trigram")
    assert paths(search, "部署") == ["memory/zh.md"] == paths(search, "部署方案")
    assert paths(search, "migrat") == ["memory/2026-04-11.md"]


def test_a_query_that_the_index_refuses_is_answered_by_plain_text(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness_nb.memory.designs.openclaw import search as module

    monkeypatch.setattr(module, "terms_of", lambda *_: module.Terms('"'))
    assert paths(made(), "database migration") == ["memory/2026-04-11.md"]


def test_notes_of_a_day_lose_weight_with_age(made: Any) -> None:
    assert paths(made(temporal_decay=True, min_score=0), "database")[0] == "memory/2026-04-11.md"


# By meaning


def test_meaning_and_words_are_merged(made: Any) -> None:
    search = made(meaning)
    assert sorted(paths(search, "storage")) == ["memory/2026-03-01.md", "memory/2026-04-11.md"]
    first = search.search("database migration", NOW)[0]
    assert first.path == "memory/2026-04-11.md" and first.vector_score == 1 and first.text_score > 0
    assert paths(search, "nonsense") == []


def test_meaning_alone(made: Any) -> None:
    (row,) = made(meaning, hybrid=False).search("weekday", NOW)
    assert (row.path, row.text_score, row.score) == ("MEMORY.md", 0, 1)


def test_vectors_are_made_once_for_a_file(folder: Path, made: Any) -> None:
    seen: list[str] = []

    def counted(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return meaning(texts)

    search = made(counted)
    search.search("storage", NOW)
    search.search("storage", NOW)
    assert len(seen) == 3 + 2
    put(folder, "memory/2026-04-12.md", "more")
    search.search("storage", NOW)
    assert len(seen) == 5 + 2


def test_it_can_be_used_from_several_threads(made: Any) -> None:
    search = made()
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(paths(search, "migration"))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [["memory/2026-04-11.md"]] * 8
