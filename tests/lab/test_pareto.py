"""Fronts: worked out by hand, against every pair, as a frame and as a chart."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import Metric
from harness_nb.lab.pareto import Front, front, unbeaten
from harness_nb.lab.sweep import Sweep, sweep

COST = Metric(name="cost", compute=lambda run: 0, better="lower")
KEPT = Metric(name="kept", compute=lambda run: 0, better="higher")
SIZE = Metric(name="size", compute=lambda run: 0)


def records(*points: tuple[str, float | None, float | None]) -> list[dict[str, Any]]:
    return [{"policy": name, "keep": 1, "cost": cost, "kept": kept, "size": 1} for name, cost, kept in points]


def front_of(given_: list[dict[str, Any]], **how: Any) -> Front:
    return front(given_, "cost", "kept", measured=(COST, KEPT, SIZE), by=("policy", "keep"), **how)


def test_a_point_is_on_the_front_when_no_other_costs_less_and_keeps_more() -> None:
    # c costs as much as b and keeps less; d costs more than b and keeps the same; e is dearest and keeps most
    found = front_of(records(("a", 1, 0.2), ("b", 2, 0.5), ("c", 2, 0.4), ("d", 3, 0.5), ("e", 9, 0.9)))
    assert [one["policy"] for one in found.best] == ["a", "b", "e"]
    assert (found.better, len(found), repr(found)) == (
        {"cost": "lower", "kept": "higher"}, 3, "Front('cost', 'kept', 3 of 5 points)",
    )  # fmt: skip


def test_records_of_the_same_settings_are_one_point_at_their_mean_and_none_where_a_figure_is_missing() -> None:
    found = front_of(records(("a", 1, 0.2), ("a", 3, 0.4), ("b", 1, None), ("b", 1, 0.9)))
    assert [(one["policy"], one["cost"]) for one in found.points] == [("a", 2.0)]
    assert found.points[0]["kept"] == pytest.approx(0.3)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_front_is_what_looking_at_every_pair_says(points: list[tuple[int, int]]) -> None:
    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] <= other[0] and one[1] <= other[1] and one != other

    assert unbeaten(points) == [not any(beats(one, other) for one in points) for other in points]


def test_a_front_is_a_frame_with_the_same_columns_when_it_is_empty() -> None:
    found, empty = front_of(records(("a", 1, 0.2), ("b", 2, 0.1))), front_of([])
    assert list(found.df.columns) == ["policy", "keep", "cost", "kept", "is_on_front"]
    assert list(found.df["is_on_front"]) == [True, False]
    assert list(empty.df.columns) == list(found.df.columns)
    assert "is_on_front" not in str(found) and "a" in str(found)
    assert isinstance(found.df, pd.DataFrame) and len(empty) == 0


def test_a_front_is_drawn_and_stays_as_a_picture() -> None:
    chart = front_of(records(("a", 1, 0.2), ("b", 2, 0.5), ("c", 2, 0.4))).chart
    shown = chart._repr_mimebundle_()
    kind = next(name for name in shown if "vegalite" in name)
    assert shown[kind]["layer"][1]["encoding"]["x"]["title"] == "cost"
    assert chart.png().startswith(b"\x89PNG")
    assert repr(chart) == "ParetoChart('cost', 'kept', 3 points)"


def table() -> Sweep:
    talk = Transcript(
        one
        for at in range(30)
        for one in (Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}. " * 30))
    )
    grid = {"harness": {"trigger_messages": [10, 20, 40], "keep_messages": [4, 8]}, "eney": {}}
    return sweep(talk, grid, metrics=["tokens_sent", "cache_reuse", "turns"], window=8_000)


def test_a_sweep_gives_its_front_of_any_two_metrics() -> None:
    found = table().pareto("tokens_sent", "cache_reuse")
    assert found.by == ("policy", "window", "trigger_messages", "keep_messages")
    assert len(found.points) == 7 and 1 <= len(found) <= 7
    cheapest = min(found.points, key=lambda one: one["tokens_sent"])
    assert cheapest["is_on_front"]
    assert table().pareto("turns", "tokens_sent", better={"turns": "higher"}).better["turns"] == "higher"


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ("tokens_sent", "tokens_sent", "both 'tokens_sent'"),
        ("tokens_sent", "peak", "no metric 'peak' here.\nUse one of tokens_sent, cache_reuse, turns"),
        ("turns", "tokens_sent", "which direction of 'turns' is better.\nSay it: better="),
    ],
)
def test_a_front_that_nobody_can_tell_is_refused(x: str, y: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        table().pareto(x, y)
