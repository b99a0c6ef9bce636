from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.messages import to_json
from harness_nb.lab.conformance.compare import Ranked, Tied, Worded, Wording, differences


def places(expected: dict[str, Any], actual: dict[str, Any]) -> list[str]:
    return [found.place for found in differences(expected, actual)]


def test_equal_outcomes_do_not_differ_and_further_keys_at_the_top_are_passed_over() -> None:
    expected = {"status": "noop", "output": [{"kind": "verbatim", "index": 1}], "cutoff": None}
    assert places(expected, {**expected, "tier": 2}) == []


def test_each_difference_is_named_by_its_place() -> None:
    expected = {"status": "noop", "output": [{"kind": "verbatim", "index": 1}, {"kind": "ack"}], "calls": ["a"]}
    actual = {"status": "error", "output": [{"kind": "note", "index": 2}], "calls": ["a", "b"]}
    assert places(expected, actual) == ["status", "output[0].kind", "output[0].index", "output[1]", "calls[1]"]


def test_what_is_missing_or_too_much_inside_a_value_differs() -> None:
    assert places({"a": {"b": 1}}, {"a": {"b": 1, "c": None}}) == ["a.c"]
    assert places({"a": {"b": 1, "c": None}}, {"a": {"b": 1}}) == ["a.c"]
    assert places({"a": 1}, {}) == ["a"]
    assert "(missing)" in repr(differences({"a": 1}, {}))


def test_figures_that_were_not_recorded_are_passed_over_among_token_estimates() -> None:
    assert places({"token_estimates": {"before": 1}}, {"token_estimates": {"before": 1, "after": 9}}) == []
    assert places({"token_estimates": {"before": 1}}, {"token_estimates": {"after": 1}}) == ["token_estimates.before"]
    assert places({"token_estimates": {"before": 1}}, {"token_estimates": None}) == ["token_estimates"]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(True, 1), (0, False), ("1", 1), (None, 0), (None, ""), ([], {}), ([1], 1), (1, 2), ("a", "a "), ("ab", ["a", "b"])],
)  # fmt: skip
def test_values_of_another_kind_or_size_differ(expected: Any, actual: Any) -> None:
    assert places({"x": expected}, {"x": actual}) == ["x"]


@pytest.mark.parametrize(
    ("expected", "actual", "is_equal"),
    [
        (10_000, 10_200, True), (10_000, 10_201, False),  # two in a hundred
        (2_000, 1_940, True), (2_000, 1_939, False),  # sixty tokens
        (1_000, 1_045, True), (1_000, 1_046, False), (100, 104, True), (100, 105, False),  # but never near a tenth
        (0, 0, True), (0, 1, False), (5, True, False), ("5", 5, False),
    ],
)  # fmt: skip
def test_a_figure_with_words_of_ours_may_be_off_a_little(expected: Any, actual: int, is_equal: bool) -> None:
    marked = Worded(actual) if not isinstance(actual, bool) else actual
    assert (places({"x": expected}, {"x": marked}) == []) is is_equal


def test_of_words_of_ours_only_that_they_are_there_is_compared() -> None:
    assert places({"x": "anything"}, {"x": Wording("something")}) == []
    assert places({"x": None}, {"x": Wording("something")}) == ["x"]


def test_ranks_are_compared_with_six_digits() -> None:
    assert places({"x": -1.77038}, {"x": Ranked(-1.7703812)}) == []
    assert places({"x": -1.77038}, {"x": Ranked(-1.7704)}) == ["x"]
    assert places({"x": 1}, {"x": Ranked(1.0)}) == []


def test_hits_of_equal_rank_may_come_in_any_order_and_others_may_not() -> None:
    first, second, third = ({"path": path, "rank": rank} for path, rank in (("a", -2.0), ("b", -1.0), ("c", -1.0)))
    expected = {"hits": [first, second, third]}
    assert places(expected, {"hits": Tied([first, third, second])}) == []
    assert places(expected, {"hits": Tied([second, first, third])})
    assert places(expected, {"hits": [first, third, second]})


def test_marked_values_are_written_as_plain_json() -> None:
    marked = {"a": Worded(3), "b": Wording("x"), "c": Ranked(1.5), "d": Tied([{"rank": 1}])}
    assert to_json(marked) == '{"a":3,"b":"x","c":1.5,"d":[{"rank":1}]}'
