from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.store import frequency, searching, semantic, vectors
from harness_nb.store.hits import KINDS, NOTES
from harness_nb.store.index import MemoryIndex
from harness_nb.store.indexing import id_ranges
from harness_nb.store.workspace import Workspace

needs_the_extra = pytest.mark.skipif(not semantic.is_available(), reason="the extra `semantic` is not installed")


def put(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def index(workspace: Path) -> Iterator[MemoryIndex]:
    with MemoryIndex(workspace) as index:
        yield index


def test_lines_with_all_words_come_before_those_with_any(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "beta beta beta", "x", "y", "alpha and a lot of other words beside beta", "x", "y", "alpha")
    hits = index.search("alpha beta")
    assert [(hit.line, hit.stage) for hit in hits][0] == (4, "all words")
    assert sorted((hit.line, hit.stage) for hit in hits[1:]) == [(1, "any word"), (7, "any word")]
    assert hits.stage == "all words" and hits.ranked is None
    assert [hit.line for hit in index.search("alpha beta", limit=1)] == [4]


def test_a_question_finds_the_line_that_answers_it(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "What we did is what we do", "x", "Ada researched adoption agencies", "x", "y")
    (hit,) = index.search("What did Ada's friends research about adopting?")
    assert hit.line == 3 and hit.snippet == "[Ada] [researched] [adoption] agencies"


def test_words_are_found_in_all_their_forms(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "migrations", "x", "migrated", "x", "migrant")
    assert sorted(hit.line for hit in index.search("migrating")) == [1, 3]


def test_a_line_gains_from_the_lines_beside_it(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "alpha one two", "x", "y", "alpha one two", "beta one two", "x", "beta three four")
    assert [hit.line for hit in index.search("alpha beta")][:2] == [4, 5]


def test_the_last_line_of_a_file_gains_nothing_from_the_next_file(workspace: Path, index: MemoryIndex) -> None:
    for name in ("a.md", "b.md", "c.md"):
        os.utime(put(workspace, name, "zebra"), (1, 1))
    assert len({hit.rank for hit in index.search("zebra")}) == 1


def test_hits_are_of_the_kinds_asked_for(workspace: Path, clock: Clock) -> None:
    store = Workspace(workspace, clock=clock)
    for name in ("MEMORY.md", "memory/2026-04-12.md", "plots.md", "memory/archive/2026-01-01.md"):
        put(workspace, name, "zebra")
    store.session("a", "s").append([{"kind": "message", "message": {"content": "zebra"}}])
    with MemoryIndex.of(store) as index:
        for kind in KINDS:
            assert [hit.kind for hit in index.search("zebra", kinds=[kind])] == [kind]
            assert [hit.kind for hit in index.search("ebr", kinds=[kind])] == [kind]
        assert {hit.kind for hit in index.search("zebra", kinds=NOTES)} == set(NOTES)
        assert len(index.search("zebra")) == 5


def test_the_ids_of_kinds_lie_side_by_side() -> None:
    assert len(id_ranges(3)) == 1 and len(id_ranges(3, NOTES)) == 2
    (notes, archive), ((low, high),) = id_ranges(3, NOTES), id_ranges(3)
    assert archive[0] == low and notes[1] <= high and archive[1] < notes[0]


def test_neighbours_come_with_a_hit_and_count(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "one", "", "two", "zebra", "three", "four", "five zebra")
    hits = index.search("zebra", limit=5, neighbours=1)
    assert [(hit.line, hit.stage) for hit in hits] == [
        (4, "all words"),
        (3, "neighbour"),
        (5, "neighbour"),
        (7, "all words"),
        (6, "neighbour"),
    ]
    assert {hit.rank for hit in hits[:3]} == {hits[0].rank}
    assert [hit.line for hit in index.search("zebra", limit=2, neighbours=1)] == [4, 3]
    assert [hit.line for hit in index.search("two", neighbours=9)] == [3, 1, 4, 5, 6, 7]


def test_a_neighbour_that_is_a_hit_itself_comes_once_as_such(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "zebra", "zebra", "x")
    assert [(hit.line, hit.stage) for hit in index.search("zebra", neighbours=1)] == [
        (1, "all words"),
        (2, "all words"),
        (3, "neighbour"),
    ]


def test_neighbours_are_found_across_what_was_written_at_another_time(workspace: Path, index: MemoryIndex) -> None:
    for lines in (["one"], ["one", "zebra"], ["one", "zebra", "three"]):
        put(workspace, "a.md", *lines)
        index.refresh()
        put(workspace, f"b{len(lines)}.md", "other")
        index.refresh()
    assert [hit.line for hit in index.search("zebra", neighbours=1)] == [2, 1, 3]


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a large index, for a small one."""
    monkeypatch.setattr(searching, "MOST_RANKED", 10)
    monkeypatch.setattr(searching, "MOST_LOOKED_THROUGH", 20)


def test_of_too_many_lines_the_newest_are_ranked_and_the_result_says_so(
    workspace: Path, index: MemoryIndex, small_bounds: None
) -> None:
    for day in range(1, 29):
        os.utime(put(workspace, f"memory/2026-04-{day:02d}.md", "zebra", "x"), (day, day))
    hits = index.search("zebra", limit=3)
    assert [hit.path[-5:-3] for hit in hits] == ["28", "27", "26"] and hits.ranked == 10
    assert repr(hits) == "SearchHits('zebra': 3 hits, all words, the newest 10 ranked)"
    assert index.search("zebra", limit=3)[:1].ranked == 10
    assert index.search("ebra").ranked == 20 and index.search("nothing").ranked == 20


def test_where_too_many_lines_match_the_rarest_words_decide(
    workspace: Path, index: MemoryIndex, small_bounds: None
) -> None:
    put(workspace, "a.md", "rare old", *(f"usual {n}" for n in range(40)), "usual rare")
    hits = index.search("rare usual unknown")
    assert sorted((hit.line, hit.stage) for hit in hits) == [(1, "any word"), (42, "any word")]
    assert hits.ranked == 10
    assert [hit.line for hit in index.search("rare usual", limit=1)] == [42]


def test_words_in_most_lines_of_a_large_index_count_only_alone(
    workspace: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frequency, "_LARGE", 50)
    monkeypatch.setattr(frequency, "_SAMPLE", 20)
    put(
        workspace, "a.md", *(f"usual common {n}" for n in range(90)), "zebra", *(f"usual common {n}" for n in range(90))
    )
    assert [hit.line for hit in index.search("usual zebra")] == [91]
    alone = index.search("usual common", limit=2)
    assert [(hit.stage, hit.rank) for hit in alone] == [("all words", 0.0)] * 2 and alone.ranked == 0
    assert index.search("common unheard", limit=2).stage == "any word"


@needs_the_extra
def test_a_hybrid_search_finds_what_words_do_not_and_tells_both_places(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "- The puppy feels sick", "", "# Taxes", "- Forms are due in May", "- Pay the dog tax")
    assert [hit.line for hit in index.search("ill dog")] == [5]
    hits = index.search("ill dog", mode="hybrid")
    assert (hits[0].line, hits[0].keyword_rank) == (5, 1) and hits[0].stage == "any word"
    puppy = next(hit for hit in hits if hit.line == 1)
    assert puppy.stage == "meaning" and puppy.keyword_rank is None and puppy.vector_rank is not None
    assert hits[0].rank <= puppy.rank < 0


@needs_the_extra
def test_vectors_follow_the_files(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "The puppy feels sick")
    assert [hit.line for hit in index.search("ill dog", mode="hybrid")] == [1]
    put(workspace, "a.md", "The puppy feels sick", *["x"] * 3, "A kitten is unwell")
    assert {hit.content for hit in index.search("ill cat", mode="hybrid")} >= {"A kitten is unwell"}
    put(workspace, "a.md", "Taxes are due")
    assert "The puppy feels sick" not in {hit.content for hit in index.search("ill dog", mode="hybrid")}
    with MemoryIndex(workspace) as other:
        put(workspace, "b.md", "The puppy feels sick")
        assert "b.md" in {hit.path for hit in other.search("ill dog", mode="hybrid")}
    assert "b.md" in {hit.path for hit in index.search("ill dog", mode="hybrid")}
    (workspace / "b.md").unlink()
    assert "b.md" not in {hit.path for hit in index.search("ill dog", mode="hybrid")}
    assert not index.search("   ", mode="hybrid")


@needs_the_extra
def test_vectors_are_made_in_batches_and_only_once(
    workspace: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    make = vectors.vectors
    monkeypatch.setattr(vectors, "vectors", lambda texts: made.append(len(texts)) or make(texts))
    monkeypatch.setattr(vectors, "_BATCH", 10)
    put(workspace, "a.md", *(f"line {n} about animals" for n in range(25)))
    index.search("animals", mode="hybrid")
    assert sorted(made) == [1, 6, 11, 12]  # the query, and three batches with the lines beside them
    made.clear()
    index.search("animals", mode="hybrid")
    assert made == [1]
    connection = index._database.connection()
    assert connection.execute("SELECT count(*) FROM vector").fetchone() == (25,)


@needs_the_extra
def test_signs_pick_the_lines_that_are_compared(
    workspace: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "COMPARED", 5)
    put(workspace, "a.md", "My dog is ill", *(f"Taxes and forms {n} are due" for n in range(40)))
    (first, *_) = index.search("ill dog", mode="hybrid", kinds=["topic"])
    assert (first.line, first.keyword_rank, first.vector_rank) == (1, 1, 1)


@needs_the_extra
def test_a_busy_index_answers_a_hybrid_search_with_what_is_there(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, "a.md", "A zebra")
    index.refresh()
    with MemoryIndex(workspace) as other, other._database.atomic(1):
        assert [hit.line for hit in index.search("zebra", mode="hybrid")] == [1]
    assert index.search("zebra", mode="hybrid")[0].vector_rank == 1
