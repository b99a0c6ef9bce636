"""Every figure against a replay small enough to work out by hand."""

from __future__ import annotations

import pickle

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, replay
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply
from harness_nb.core.tokens import Measure
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import METRICS, Metric, chosen
from harness_nb.lab.run import Replay


class TenEach:
    """Counts every text as ten tokens, so that sizes can be worked out in one's head."""

    name = "ten each"

    def count_text(self, text: str) -> int:
        return 10


def ten(message: Message, counter: TenEach) -> int:
    """A message is ten tokens, whatever it says."""
    return 10


class KeepsTwo(CompactionPolicy):
    """Replaces all but the last two items by a summary as soon as there are five."""

    def plan(self, view: View) -> Plan:
        if len(view.input) < 5:
            return view.unchanged("short")
        old, recent = view.input[:-2], view.input[-2:]
        return view.becomes([edits.summary(Reply("They talked."), of=old), *recent], "long")


def run() -> Replay:
    """Four turns of a question and an answer: requests of 1, 3, 5 and 5 messages, the third cut to 3."""
    said = [one for at in range(4) for one in (Message.user(f"Question {at}?"), Message.assistant(f"Answer {at}."))]
    return replay(
        Transcript(said, name="talk"), KeepsTwo(), window=1_000, model=None, measure=Measure(TenEach(), size=ten)
    )


@pytest.mark.parametrize(
    ("name", "worked_out"),
    [
        ("messages", 8),
        ("turns", 4),
        ("requests", 4),
        ("tokens_sent", 10 + 30 + 30 + 30),  # the third list of 5 became 3, and so did the fourth
        ("peak_tokens", 30),
        ("mean_tokens", 25),
        ("final_tokens", 40),
        ("compactions", 2),
        ("failures", 0),
        ("overflows", 0),
        ("model_calls", 0),
        ("own_tokens", 0),
        ("summary_tokens", 20),
        ("compression", (30 + 30) / (50 + 50)),
    ],
)
def test_a_figure_is_what_can_be_worked_out_by_hand(name: str, worked_out: float) -> None:
    assert METRICS[name](run()) == pytest.approx(worked_out)


def test_every_metric_says_what_it_is_and_can_go_to_another_process() -> None:
    replayed = run()
    for name, one in METRICS.items():
        assert (one.name, bool(one.unit), bool(one.meaning)) == (name, True, True)
        assert pickle.loads(pickle.dumps(one))(replayed) == one(replayed)  # noqa: S301 - made here


def test_a_replay_without_a_request_or_a_compaction_has_no_mean_and_no_compression() -> None:
    empty = replay(Transcript([Message.user("Hello?")]), "harness", window=1_000, model=None)
    assert METRICS["compression"](empty) is None
    assert METRICS["mean_tokens"](empty) is None


def test_metrics_are_chosen_by_name_as_they_are_or_as_functions() -> None:
    def turns_squared(run: Replay) -> float:
        """Turns times turns."""
        return run.totals.turns**2

    own = Metric(name="own", compute=lambda run: 7.0, unit="sevens", better="higher")
    found = chosen(["turns", own, turns_squared])
    assert [one.name for one in found] == ["turns", "own", "turns_squared"]
    assert [one(run()) for one in found] == [4, 7, 16]
    assert found[2].meaning == "Turns times turns."


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="'token_sent'.*\n.*'tokens_sent'"):
        chosen(["token_sent"])
    with pytest.raises(ConfigError, match="no name"):
        chosen([lambda run: 1.0])
