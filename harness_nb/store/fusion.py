"""Places by words and places by meaning made one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

VECTOR_WEIGHT = 0.3
"""What a place by meaning counts for, one by words counting for 1: static embeddings find less than words do."""

CONSTANT = 10
"""Places a list is taken to begin behind: the larger, the less the first ones stand out."""

POOL = 100
"""Places of each list that count."""


class Fused(NamedTuple):
    """A line with its places in both lists, from 1."""

    id: int
    value: float
    keyword_rank: int | None
    vector_rank: int | None


def fused(by_words: Sequence[int], by_meaning: Sequence[int]) -> list[Fused]:
    """The ids of both lists, best first, by weighted reciprocal ranks; of equals those found by words first.

    Args:
        by_words: Ids, the best first.
        by_meaning: Ids, the nearest first.
    """
    words = {id: place for place, id in enumerate(by_words, 1)}
    meaning = {id: place for place, id in enumerate(by_meaning, 1)}
    together = [
        Fused(id, _share(words.get(id)) + VECTOR_WEIGHT * _share(meaning.get(id)), words.get(id), meaning.get(id))
        for id in words | meaning
    ]
    return sorted(together, key=lambda one: -one.value)


def _share(place: int | None) -> float:
    return 0.0 if place is None else 1 / (CONSTANT + place)
