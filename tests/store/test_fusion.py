from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_nb.store.fusion import VECTOR_WEIGHT, fused

LISTS = st.lists(st.integers(0, 30), unique=True, max_size=20)


def test_a_line_in_both_lists_is_above_one_in_either() -> None:
    assert [one.id for one in fused([1, 2, 3], [4, 2])] == [2, 1, 3, 4]


def test_both_places_are_told() -> None:
    (first, second) = fused([7], [7, 8])
    assert (first.id, first.keyword_rank, first.vector_rank) == (7, 1, 1)
    assert (second.id, second.keyword_rank, second.vector_rank) == (8, None, 2)


@given(LISTS)
def test_one_list_alone_keeps_its_order(ids: list[int]) -> None:
    assert [one.id for one in fused(ids, [])] == ids
    assert [one.id for one in fused([], ids)] == ids


@given(LISTS, LISTS)
def test_every_line_comes_once_and_the_best_by_words_is_never_below_the_best_by_meaning(
    words: list[int], meaning: list[int]
) -> None:
    order = [one.id for one in fused(words, meaning)]
    assert sorted(order) == sorted({*words, *meaning}) and VECTOR_WEIGHT < 1
    if words and meaning and words[0] not in meaning and meaning[0] not in words:
        assert order.index(words[0]) < order.index(meaning[0])
