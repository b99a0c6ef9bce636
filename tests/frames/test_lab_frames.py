"""Frames of the lab's reports have their documented columns and dtypes, with rows and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pandas as pd
import pytest

from harness_nb.frames import lab_columns, lab_frames
from harness_nb.frames.columns import Column
from harness_nb.frames.leaderboard import LEADERBOARD, STATUS, LeaderboardChart, leaderboard_frame
from harness_nb.lab import diff, spread, survival
from harness_nb.lab.datasets import record
from harness_nb.lab.leaderboard.standings import STATUSES

SCHEMAS: dict[Callable[..., pd.DataFrame], tuple[Column, ...]] = {
    lab_frames.diff_frame: lab_columns.DIFF,
    leaderboard_frame: LEADERBOARD,
    lab_frames.conversations_frame: lab_columns.CONVERSATIONS,
    lab_frames.retrieval_frame: lab_columns.RETRIEVAL,
    lab_frames.evidence_frame: lab_columns.EVIDENCE,
    lab_frames.answers_frame: lab_columns.ANSWERS,
    lab_frames.verdicts_frame: lab_columns.VERDICTS,
    lab_frames.spread_frame: lab_columns.SPREAD,
}


@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
def test_a_frame_has_the_same_columns_and_dtypes_with_rows_and_without(make: Callable[..., Any]) -> None:
    empty, blank = make([]), make([{}])
    assert list(empty.columns) == [column.name for column in SCHEMAS[make]]
    assert dict(empty.dtypes) == dict(blank.dtypes)
    assert len(blank) == 1


@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
def test_a_frame_has_the_verbs_of_all_frames(make: Callable[..., Any]) -> None:
    assert make([]).harness.to_markdown().startswith("| ")


def test_the_categories_are_those_of_the_reports() -> None:
    assert lab_columns.VERDICT == diff.VERDICTS
    assert lab_columns.REACH == survival.REACHES
    assert get_args(spread.Order) == lab_columns.ORDER
    assert get_args(record.Split) == lab_columns.SPLIT


def test_a_leaderboard_has_the_states_of_its_rows() -> None:
    assert STATUS == STATUSES


def test_points_of_a_leaderboard_at_one_place_share_a_label() -> None:
    here = {"source": "s", "window": 8_000, "rank": 1, "status": "ranked", "tokens": 100, "survival": 0.5}
    rows = [
        here | {"preset": "a", "variant": "one"},
        here | {"preset": "a", "variant": "two"},
        here | {"preset": "b", "variant": "one", "tokens": 90},
        here | {"preset": "c", "status": "refused"},
    ]
    chart = LeaderboardChart(leaderboard_frame(rows))
    assert list(chart.data["label"]) == ["a", "", "b one"]
    assert chart.png().startswith(b"\x89PNG")


def test_a_leaderboard_without_anybody_ranked_has_an_empty_chart() -> None:
    assert LeaderboardChart(leaderboard_frame([])).png().startswith(b"\x89PNG")
