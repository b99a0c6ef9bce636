"""What a sweep tries: all combinations, or some drawn at random."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.errors import ConfigError
from harness_nb.lab.sweeping.trials import Between, RandomSearch, Trial, every

GRID: dict[str, dict[str, Any]] = {"harness": {"keep_messages": [4, 8], "trigger_messages": range(20, 23)}, "eney": {}}


def test_every_combination_is_tried_once_the_last_setting_changing_fastest() -> None:
    found = every(GRID, [8_000, None])
    assert len(found) == 2 * 2 * 3 + 2
    assert found[0] == Trial("harness", {"keep_messages": 4, "trigger_messages": 20}, 8_000)
    assert found[1].settings["trigger_messages"] == 21
    assert found[-1] == Trial("eney", {}, None)


def test_a_draw_is_the_same_for_the_same_seed_and_has_no_trial_twice() -> None:
    search = RandomSearch(trials=9, seed=3)
    found = search.drawn(GRID, [None])
    assert found == search.drawn(GRID, [None])
    assert found != RandomSearch(trials=9, seed=4).drawn(GRID, [None])
    assert len({repr(one) for one in found}) == len(found) == 7  # there are no more
    assert {repr(one) for one in found} == {repr(one) for one in every(GRID, [None])}


@given(st.integers(0, 10**6), st.integers(1, 50), st.integers(1, 10**5), st.booleans())
def test_what_is_drawn_from_a_range_is_in_it_and_whole_where_its_ends_are(
    seed: int, low: int, more: int, by_ratio: bool
) -> None:
    value = Between(low, low + more, by_ratio).drawn(random.Random(seed))  # noqa: S311 - no secret
    assert isinstance(value, int) and low <= value <= low + more
    share = Between(0.25, 0.75).drawn(random.Random(seed))  # noqa: S311 - no secret
    assert isinstance(share, float) and 0.25 <= share <= 0.75


def test_by_ratio_as_many_values_are_drawn_from_each_doubling() -> None:
    search = RandomSearch(trials=400, seed=1)
    found = search.drawn({"harness": {"trigger_tokens": Between(1_000, 16_000, by_ratio=True)}}, [None])
    small = sum(one.settings["trigger_tokens"] < 4_000 for one in found)
    assert 0.4 < small / len(found) < 0.6


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Between(5, 5), "no range"),
        (lambda: Between(0, 5, by_ratio=True), "above 0"),
        (lambda: RandomSearch(trials=0), "trials=0"),
        (lambda: every({"harness": {"keep_messages": Between(1, 9)}}, [None]), r"search=RandomSearch\(trials=100\)"),
    ],
)
def test_what_can_not_be_tried_is_refused_with_what_to_write(make: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make()
