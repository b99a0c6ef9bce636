from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.cutoff import find_cutoff


@st.composite
def lists_(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Boundaries and running sums of a list of items."""
    sizes = draw(st.lists(st.integers(0, 50), max_size=12))
    inner = draw(st.sets(st.integers(0, len(sizes))))
    return sorted({0, len(sizes), *inner}), list(accumulate(sizes, initial=0))


@given(lists_(), st.integers(0, 20), st.integers(0, 300))
def test_a_cut_falls_between_rounds_and_never_behind_the_wanted_place(
    made: tuple[list[int], list[int]], keep_messages: int, keep_tokens: int
) -> None:
    boundaries, sums = made

    cutoff = find_cutoff(boundaries, sums, keep_messages=keep_messages, keep_tokens=keep_tokens)

    assert cutoff.index in boundaries
    assert cutoff.index <= cutoff.wanted
    assert cutoff.moved is (cutoff.index != cutoff.wanted)
    assert cutoff.reason.startswith("keeps ")


@given(lists_(), st.integers(0, 20))
def test_at_least_the_wanted_number_of_messages_stays(made: tuple[list[int], list[int]], keep: int) -> None:
    boundaries, sums = made
    length = len(sums) - 1

    index = find_cutoff(boundaries, sums, keep_messages=keep).index

    assert length - index >= min(keep, length)
    assert [at for at in boundaries if index < at <= max(0, length - keep)] == []


@given(lists_(), st.integers(1, 300))
def test_no_shorter_end_was_asked_for_in_tokens(made: tuple[list[int], list[int]], keep: int) -> None:
    boundaries, sums = made

    cutoff = find_cutoff(boundaries, sums, keep_tokens=keep)

    assert sums[-1] - sums[cutoff.wanted] <= keep
    assert cutoff.wanted == 0 or sums[-1] - sums[cutoff.wanted - 1] > keep
    assert cutoff.index < len(sums) - 1 or len(sums) == 1


@pytest.mark.parametrize(
    ("keep", "index", "reason"),
    [
        ({"keep_messages": 2}, 3, "keeps the last 2 messages"),
        ({"keep_messages": 1}, 4, "keeps the last 1 message"),
        ({"keep_messages": 3}, 1, "keeps the last 3 messages; wanted at 2, moved so that a round stays whole"),
        ({"keep_messages": 0}, 5, "keeps the last 0 messages"),
        ({"keep_messages": 9}, 0, "keeps the last 9 messages"),
        ({"keep_tokens": 25}, 3, "keeps the last 25 tokens"),
        ({"keep_tokens": 25, "keep_messages": 5}, 3, "keeps the last 25 tokens"),
        ({"keep_tokens": 30}, 1, "keeps the last 30 tokens; wanted at 2, moved so that a round stays whole"),
        ({"keep_tokens": 5}, 4, "keeps the last round, which alone is more than 5 tokens"),
        ({"keep_tokens": 1_000}, 0, "keeps the last 1,000 tokens"),
    ],
)
def test_a_cut_says_why_it_lies_where_it_does(keep: dict[str, int], index: int, reason: str) -> None:
    cutoff = find_cutoff([0, 1, 3, 4, 5], [0, 10, 20, 30, 40, 50], **keep)

    assert (cutoff.index, cutoff.reason) == (index, reason)


def test_an_empty_list_is_cut_at_its_start() -> None:
    assert find_cutoff([0], [0], keep_messages=3).index == 0
    assert find_cutoff([0], [0], keep_tokens=3).reason == "keeps the last 3 tokens"


def test_a_last_round_longer_than_the_keep_setting_stays_whole() -> None:
    assert find_cutoff([0, 1, 5], [0, 1, 2, 3, 4, 5], keep_messages=2).index == 1
    assert find_cutoff([0, 1, 5], [0, 1, 2, 3, 4, 105], keep_tokens=10).index == 1
