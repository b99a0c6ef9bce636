from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness_nb.memory.designs.openclaw.config import OpenClawSearchConfig
from harness_nb.memory.designs.openclaw.ranking import (
    Row,
    boosted,
    decayed,
    diverse,
    is_evergreen,
    likeness,
    likeness_words,
    merged,
    note_day,
    rank_score,
    selected,
)

NOW = datetime(2026, 7, 1, tzinfo=UTC)
A = Row(key="A", path="memory/2026-07-01.md", vector_score=0.9)
B = Row(key="B", path="memory/2026-06-01.md", vector_score=0.8)
C = Row(key="C", path="MEMORY.md", vector_score=0.5)
D = Row(key="D", path="memory/2026-07-01-slug.md", text_score=1.0)
SIDES = [A, B, C], [Row(key="C", path="MEMORY.md", text_score=0.8, snippet="by words"), D]


def settings(**values: Any) -> OpenClawSearchConfig:
    return OpenClawSearchConfig(**values)


def merge(**values: Any) -> dict[str, float]:
    rows = merged(*SIDES, settings(**values), NOW, lambda _: NOW)
    return {row.key: round(row.score, 2) for row in rows}


@pytest.mark.parametrize(
    ("rank", "score"),
    [(-10, 0.9091), (-2.5, 0.7143), (-1, 0.5), (-0.25, 0.2), (0, 1), (1, 0.5), (math.nan, 0.001), (math.inf, 0.001)],
)
def test_a_rank_becomes_a_score(rank: float, score: float) -> None:
    assert rank_score(rank) == pytest.approx(score, abs=1e-4)


# Merging


def test_both_sides_are_weighed() -> None:
    assert merge() == {"A": 0.63, "C": 0.59, "B": 0.56, "D": 0.30}
    assert list(merge(vector_weight=0, text_weight=1)) == ["D", "C", "A", "B"]
    assert next(row.snippet for row in merged(*SIDES, settings(), NOW, lambda _: NOW) if row.key == "C") == "by words"


def test_age_takes_weight_from_notes_of_a_day_only() -> None:
    assert merge(temporal_decay=True) == {"A": 0.63, "C": 0.59, "D": 0.30, "B": 0.28}


def test_a_note_of_a_day_with_a_name_ages_where_that_is_on() -> None:
    old = Row(key="x", path="memory/2026-06-01-plan.md", score=0.8)
    aged = [decayed([old], settings(temporal_decay=True, slugs_decay=on), NOW, lambda _: None) for on in (False, True)]
    assert [round(row.score, 2) for (row,) in aged] == [0.8, 0.4]


def test_what_has_no_day_ages_by_its_file_and_topics_never() -> None:
    def month(_: Row) -> datetime:
        return NOW - timedelta(days=30)

    config = settings(temporal_decay=True)
    paths = (("memory/topic.md", "memory"), ("other.md", "memory"), ("memory/topic.md", "sessions"))
    found = [decayed([Row(key="x", path=path, source=source, score=1)], config, NOW, month) for path, source in paths]
    assert [round(row.score, 2) for (row,) in found] == [1, 0.5, 0.5]


@pytest.mark.parametrize(
    ("path", "day", "evergreen"),
    [
        ("memory/2026-07-01.md", 1, False), ("./memory\\2026-07-02.md", 2, False), ("memory/2026-07-01-x.md", None, True),
        ("memory/2026-02-31.md", None, False), ("memory/topic.md", None, True), ("MEMORY.md", None, True), ("x.md", None, False),
    ],
)  # fmt: skip
def test_a_day_is_read_from_a_name(path: str, day: int | None, evergreen: bool) -> None:
    found = note_day(path)
    assert (found.day if found else None, is_evergreen(path)) == (day, evergreen)


# Difference


def test_hits_that_say_the_same_give_way() -> None:
    rows = [
        Row(key=name, path=name, snippet=text, score=score)
        for name, text, score in (("a", "blue sky today", 0.9), ("b", "blue sky today", 0.85), ("c", "red car", 0.8))
    ]
    assert [row.key for row in diverse(rows, 0.5)] == ["a", "c", "b"]
    assert [row.key for row in diverse(rows, 1)] == ["a", "b", "c"]
    assert diverse(rows[:1], 0.5) == rows[:1]
    assert [row.key for row in merged(rows, [], settings(mmr=True, mmr_lambda=0), NOW, lambda _: NOW)][0] == "a"


def test_texts_are_alike_by_words_and_by_neighbours_in_east_asia() -> None:
    assert likeness(likeness_words("a b"), likeness_words("B c")) == pytest.approx(1 / 3)
    assert likeness_words("数据") == {"数", "据", "数据"} and likeness_words("数a据") == {"数", "据", "a"}
    assert likeness(frozenset(), frozenset()) == 1 and likeness(frozenset("a"), frozenset()) == 0


# Choice


def test_hits_by_words_pass_below_the_floor_where_nothing_is_above() -> None:
    low, lower = Row(key="a", path="a", score=0.2), Row(key="b", path="b", score=0.1)
    assert selected([low, lower], [lower], settings()) == [lower]
    assert selected([low, lower], [lower], settings(relax_floor=False)) == []
    assert selected([low, lower], [], settings()) == []
    high = Row(key="c", path="c", score=0.5)
    assert selected([high, low], [low], settings()) == [high]
    assert len(selected([high] * 9, [], settings())) == 6


@pytest.mark.parametrize(
    ("question", "path", "text", "score"),
    [
        ("?", "a", "b", 0.3),
        ("cat", "memory/x.md", "a cat", 0.3 + 0.45 + 0.1 + 5 / 160),
        ("cat", "cat.md", "cat " * 90, 1),
    ],
)
def test_words_weigh_more_where_there_are_no_meanings(question: str, path: str, text: str, score: float) -> None:
    assert boosted(question, path, text, 0.3) == pytest.approx(score)
