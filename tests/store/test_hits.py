from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from harness_nb.store.hits import SearchHit, SearchHits
from harness_nb.store.index import MemoryIndex

HIT = SearchHit("memory/2026-04-12.md", 3, "- a", -1.5, "- [a]", "daily", date(2026, 4, 12))


def test_hits_are_a_sequence_that_shows_itself_in_one_line() -> None:
    hits = SearchHits([HIT, HIT], query="a", stage="all words")
    assert repr(hits) == "SearchHits('a': 2 hits, all words)"
    assert repr(SearchHits(query="b")) == "SearchHits('b': 0 hits)"
    assert list(hits) == [HIT, HIT] and hits[0] is HIT and len(hits) == 2
    assert hits[:1] == SearchHits([HIT], query="a", stage="all words")
    assert len({hits, hits[:]}) == 1 and hits != [HIT, HIT]


def test_hits_are_a_frame_of_one_row_each() -> None:
    pytest.importorskip("harness_nb.frames")
    frame = SearchHits([HIT], query="a", stage="all words").df
    assert list(frame["path"]) == ["memory/2026-04-12.md"] and list(frame["line"]) == [3]
    assert list(frame.columns) == list(SearchHits().df.columns)


def test_places_are_known_before_the_hits_are_made() -> None:
    def make() -> list[SearchHit]:
        raise AssertionError("the hits are not asked for")

    assert SearchHits(make, places=[("a.md", 3)]).places == (("a.md", 3),)


def test_places_are_those_of_the_hits(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("an owl\na mouse\nthe owl\n", encoding="utf-8")
    with MemoryIndex(tmp_path) as index:
        hits = index.search("owl")
        assert hits.places == tuple((hit.path, hit.line) for hit in hits)
        assert hits[:1].places == hits.places[:1]
