"""Successive halving: rounds, the data of each, and who goes on."""

from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import METRICS
from harness_nb.lab.sweep import SuccessiveHalving, sweep
from harness_nb.lab.sweeping.halving import Rung, beginning
from harness_nb.lab.sweeping.trials import RandomSearch


def talk(turns: int, name: str = "talk") -> Transcript:
    said = []
    for at in range(turns):
        said += [Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}: {at * 7}. " * 20)]
    return Transcript(said, name=name)


def test_each_round_has_fewer_trials_on_more_of_the_data() -> None:
    # 20 trials, a third goes on: ceil(20 / 3) = 7 and ceil(20 / 9) = 3; the data grow from 1/9 over 1/3 to all
    rungs = SuccessiveHalving(by="tokens_sent").plan(20)
    assert [one.trials for one in rungs] == [20, 7, 3]
    assert [one.share for one in rungs] == pytest.approx([1 / 9, 1 / 3, 1])
    assert SuccessiveHalving(by="tokens_sent", factor=2, rungs=1).plan(5) == (Rung(1, 1.0, 5),)


def test_less_data_are_whole_turns_from_the_start_or_the_first_conversations() -> None:
    whole = talk(9)
    assert len(beginning(whole, 1 / 3)) == 6 and list(beginning(whole, 0.4)) == list(whole[:6])
    assert len(beginning(whole, 0.01)) == 2  # the first turn at least
    assert beginning(whole, 1.0) is whole
    assert len(beginning(Transcript([Message.user("a")]), 0.1)) == 1 and len(beginning(Transcript(), 0.5)) == 0
    by_talks = SuccessiveHalving(by="tokens_sent", over="transcripts")
    assert [one.name for one in by_talks.data([talk(1, "a"), talk(1, "b"), talk(1, "c")], 1 / 3)] == ["a"]


def test_the_best_means_go_on_in_the_direction_of_the_metric_and_refused_ones_last() -> None:
    scores: dict[int, list[int | None]] = {0: [5, 5], 1: [1, 3], 2: [None, 1], 3: [2, 2], 4: [9, 9]}
    halving = SuccessiveHalving(by="tokens_sent")
    assert halving.best(scores, METRICS["tokens_sent"], 2) == [1, 3]
    assert halving.best(scores, METRICS["cache_reuse"], 2) == [0, 4]
    assert halving.best(scores, METRICS["tokens_sent"], 5) == [0, 1, 2, 3, 4]


def test_a_sweep_by_halving_ends_with_what_the_whole_grid_says_of_its_finalists(tmp_path: Any) -> None:
    grid = {"harness": {"trigger_messages": [8, 12, 16, 24, 40, 60], "keep_messages": [4]}}
    search = SuccessiveHalving(by="tokens_sent", rungs=2)
    table = sweep([talk(30), talk(36, "other")], grid, window=8_000, search=search, folder=tmp_path)
    whole = sweep([talk(30), talk(36, "other")], grid, window=8_000)
    assert len(table) == 12 and len(table.finalists) == 4  # two of six trials on two conversations
    assert list(table.df.columns)[3:7] == ["trigger_messages", "keep_messages", "rung", "share"]
    for one in table.finalists:
        other = next(x for x in whole.records if (x["trial"], x["transcript"]) == (one["trial"], one["transcript"]))
        assert {name: one[name] for name in table.metrics} == {name: other[name] for name in table.metrics}
    assert {one["share"] for one in table.records} == {1 / 3, 1.0}
    again = sweep([talk(30), talk(36, "other")], grid, window=8_000, search=search, folder=tmp_path)
    assert (again.records, again.resumed) == (table.records, 12 + 4)


def test_trials_of_a_halving_may_be_drawn() -> None:
    grid = {"harness": {"trigger_messages": list(range(8, 60))}}
    search = SuccessiveHalving(by="peak_tokens", rungs=2, draw=RandomSearch(trials=6, seed=2))
    told: list[tuple[int, int]] = []
    table = sweep(talk(20), grid, window=8_000, search=search, progress=lambda done, of: told.append((done, of)))
    assert len(table) == 6 and told[-1] == (8, 8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SuccessiveHalving(by="tokens_sent", factor=1), "factor=1"),
        (lambda: SuccessiveHalving(by="tokens_sent", over="words"), "over='words'"),  # type: ignore[arg-type]
        (lambda: sweep(talk(2), {"eney": {}}, search=SuccessiveHalving(by="turns")), "by='turns' can't choose"),
    ],
)
def test_what_can_not_be_halved_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make()
