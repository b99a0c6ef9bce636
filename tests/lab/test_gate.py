"""The gate that holds a policy: what passes it, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb import Message, Transcript, replay
from harness_nb.errors import ConfigError
from harness_nb.lab.gate import PolicyGate, PolicyRegression
from harness_nb.lab.score import ScoreReport
from tests.lab.scores import made_report, made_score

WORSE = made_report(made_score({"tokens_sent": 1_100.0}))


@pytest.fixture
def gate(tmp_path: Path) -> PolicyGate:
    made_report().write(tmp_path / "old.json")
    return PolicyGate(folder=tmp_path, baseline="old.json")


def test_what_is_not_worse_passes_and_is_given_back(gate: PolicyGate) -> None:
    better = made_report(made_score({"tokens_sent": 900.0}))
    assert gate(better) is better
    assert gate(WORSE, tolerance=0.1) is WORSE
    assert gate(WORSE, metrics=["future_use"]) is WORSE


def test_what_is_worse_is_named_with_both_figures(gate: PolicyGate) -> None:
    with pytest.raises(PolicyRegression) as caught:
        gate(WORSE)
    assert "talk, harness, window 8,000: tokens_sent 1,000 -> 1,100 (+10.0%), lower is better" in str(caught.value)


def test_a_replay_that_is_not_scored_any_more_fails(gate: PolicyGate) -> None:
    made_report(made_score(), made_score(transcript="other", data="d1")).write(gate.folder / "two.json")
    with pytest.raises(PolicyRegression, match="other, harness, window 8,000: not scored any more"):
        gate(made_report(), baseline="two.json")


def test_limits_hold_without_a_baseline(tmp_path: Path) -> None:
    gate = PolicyGate(folder=tmp_path, baseline="nowhere.json")
    report = made_report()
    assert gate(report, at_least={"future_use": 0.8}, at_most={"tokens_sent": 1_000}) is report
    with pytest.raises(PolicyRegression, match="future_use is 0.8, and at least 0.9 is wanted"):
        gate(report, at_least={"future_use": 0.9})
    with pytest.raises(PolicyRegression, match="tokens_sent is 1,000, and at most 999 is wanted"):
        gate(report, at_most={"tokens_sent": 999})


def test_a_figure_that_is_missing_is_beyond_its_limit(tmp_path: Path) -> None:
    with pytest.raises(PolicyRegression, match="future_use is missing, and at least 0 is wanted"):
        PolicyGate(folder=tmp_path, baseline="x")(
            made_report(made_score({"future_use": None})), at_least={"future_use": 0}
        )


def test_an_unknown_figure_is_refused(gate: PolicyGate) -> None:
    with pytest.raises(ConfigError, match="no metric 'tokens'"):
        gate(made_report(), at_most={"tokens": 1})


def test_writing_replaces_the_baseline_of_a_replay_that_is_scored_here(tmp_path: Path) -> None:
    said = [Message.user("Measure."), Message.assistant("Measured.")]
    run = replay(Transcript(said, name="talk"), model=None)
    writing: Any = PolicyGate(folder=tmp_path, baseline="sub/new.json", is_writing=True)
    report = writing(run)
    assert ScoreReport.read(tmp_path / "sub/new.json") == report
    assert PolicyGate(folder=tmp_path, baseline="sub/new.json")(run) == report


def test_writing_does_not_pass_what_is_beyond_a_limit(tmp_path: Path) -> None:
    gate = PolicyGate(folder=tmp_path, baseline="new.json", is_writing=True)
    with pytest.raises(PolicyRegression):
        gate(made_report(), baseline="new.json", at_most={"tokens_sent": 1})
    assert not (tmp_path / "new.json").exists()
