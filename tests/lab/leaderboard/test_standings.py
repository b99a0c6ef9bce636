"""Rows of a leaderboard, worked out by hand: sums, means, ranks, and who is not ranked."""

from __future__ import annotations

from typing import Any

import pytest

from harness_nb.lab.leaderboard.standings import Standing, ordered, ranked, standings
from harness_nb.lab.leaderboard.trials import Entrant, Trial
from tests.lab.scores import made_score

FIGURES: dict[str, float | None] = {
    "tokens_sent": 1_000.0,
    "own_tokens": 100.0,
    "peak_tokens": 400.0,
    "compactions": 2.0,
    "model_calls": 2.0,
    "failures": 0.0,
    "overflows": 0.0,
    "invalid_prompts": 0.0,
    "cache_reuse": 0.5,
    "cost": None,
    "future_use": None,
    "evidence_graded": 0.5,
    "evidence_verbatim": 0.25,
    "reachable_at_10": 0.75,
}


def trial(
    preset: str = "harness", conversation: str = "a", *, weight: int = 1, refusal: str = "", **figures: float | None
) -> Trial:
    score = None if refusal else made_score(FIGURES | figures, policy=preset)
    return Trial("data", conversation, weight, Entrant(preset), 8_000, score, refusal)


def row(tokens: int, survival: float, **fields: Any) -> Standing:
    given: dict[str, Any] = {"source": "s", "window": 1, "preset": "p", "variant": "", "status": "ranked"}
    return Standing(**given | {"tokens": tokens, "survival": survival} | fields)


def test_tokens_are_those_of_the_requests_and_of_the_policys_own_calls() -> None:
    (found,) = standings([trial(), trial(conversation="b", tokens_sent=500.0, peak_tokens=450.0)])
    assert (found.tokens, found.own_tokens, found.peak_tokens) == (1_700, 200, 450)
    assert (found.conversations, found.acted, found.compactions, found.model_calls) == (2, 2, 4, 4)


def test_survival_is_the_mean_over_questions_and_cache_reuse_that_over_tokens() -> None:
    few = trial(weight=1, evidence_graded=1.0, evidence_verbatim=0.0, tokens_sent=3_000.0, cache_reuse=0.9)
    many = trial(conversation="b", weight=3, evidence_graded=0.5, evidence_verbatim=0.4, cache_reuse=0.5)
    (found,) = standings([few, many])
    assert found.survival == pytest.approx((1 * 1.0 + 3 * 0.5) / 4)
    assert found.verbatim == pytest.approx((1 * 0.0 + 3 * 0.4) / 4)
    assert found.cache_reuse == pytest.approx((3_000 * 0.9 + 1_000 * 0.5) / 4_000)
    assert found.low is not None and found.high is not None and 0.5 <= found.low <= found.survival <= found.high <= 1.0


def test_a_single_conversation_has_no_interval() -> None:
    (found,) = standings([trial()])
    assert (found.survival, found.low, found.high) == (0.5, None, None)


def test_survival_is_the_first_measure_that_a_source_has() -> None:
    (evidence,) = standings([trial(future_use=0.9)])
    (future,) = standings([trial(future_use=0.9, evidence_graded=None)])
    assert (evidence.measure, evidence.survival) == ("evidence_graded", 0.5)
    assert (future.measure, future.survival) == ("future_use", 0.9)


def test_a_rank_is_one_more_for_each_that_keeps_no_less_for_no_more_tokens() -> None:
    rows = [row(100, 0.5), row(200, 0.9), row(150, 0.4), row(250, 0.4), row(100, 0.5), row(100, 0.4)]
    # the third is beaten by the first and fifth, and by the last, which keeps the same for less;
    # the fourth by those, by the second, and by the third; the last by the first and the fifth
    assert [one.rank for one in ranked(rows)] == [1, 1, 4, 6, 1, 3]


def test_who_is_not_ranked_beats_nobody() -> None:
    rows = ranked([row(1, 1.0, status="over the window"), row(100, 0.5)])
    assert [one.rank for one in rows] == [None, 1]


def test_rows_are_in_order_of_rank_then_survival_and_those_not_ranked_come_last() -> None:
    rows = [
        row(9, 0.1, status="never acted"),
        row(5, 0.2, rank=2),
        row(7, 0.3, rank=1),
        row(8, 0.6, rank=1),
        Standing(source="s", window=1, preset="q", variant="", status="refused"),
    ]
    assert [(one.rank, one.survival) for one in ordered(rows)] == [
        (1, 0.6),
        (1, 0.3),
        (2, 0.2),
        (None, 0.1),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("trials", "status", "note"),
    [
        ([trial(refusal="8,000 is too small."), trial(conversation="b")], "refused", "1 of 2: 8,000 is too small."),
        ([trial(refusal="8,000 is too small.")], "refused", "8,000 is too small."),
        ([trial(compactions=0.0)], "never acted", "nothing was replaced"),
        ([trial(compactions=0.0, failures=3.0)], "never acted", "3 plans failed"),
        ([trial(overflows=2.0), trial(conversation="b")], "over the window", "2 requests above it"),
        ([trial(invalid_prompts=1.0, overflows=2.0)], "invalid", "1 invalid prompts"),
        ([trial(evidence_graded=None)], "not scored", "no survival to measure"),
        ([trial(compactions=0.0), trial(conversation="b")], "ranked", "acted in 1 of 2"),
    ],
)
def test_a_row_says_why_it_is_not_ranked(trials: list[Trial], status: str, note: str) -> None:
    (found,) = standings(trials)
    assert (found.status, found.note) == (status, note)
    assert (found.rank == 1) == (status == "ranked")


def test_each_source_and_window_is_a_table_of_its_own() -> None:
    other = Trial("data", "a", 1, Entrant("eney"), 32_000, made_score(FIGURES), "")
    found = standings([trial(), other, trial("eney", tokens_sent=900.0)])
    assert [(one.window, one.preset, one.rank) for one in found] == [
        (8_000, "eney", 1),
        (8_000, "harness", 2),
        (32_000, "eney", 1),
    ]


def test_a_cost_is_known_only_where_that_of_each_conversation_is() -> None:
    (known,) = standings([trial(cost=0.5), trial(conversation="b", cost=0.25)])
    (unknown,) = standings([trial(cost=0.5), trial(conversation="b")])
    assert (known.cost, unknown.cost) == (0.75, None)
