"""Two reports beside each other: what moved, and whether that is worse."""

from __future__ import annotations

from typing import Any

import pytest

from harness_nb.errors import ConfigError
from harness_nb.lab.diff import diff
from tests.lab.scores import made_report, made_score


def verdicts(old: dict[str, float | None], new: dict[str, float | None], **how: Any) -> dict[str, str]:
    found = diff(made_report(made_score(old)), made_report(made_score(new)), **how)
    return {one.metric: one.verdict for one in found.changes}


def test_equal_reports_are_the_same() -> None:
    found = diff(made_report(), made_report())
    assert found.counts == {"same": 3} and not found.is_worse and found.moved == ()


def test_the_direction_of_a_metric_says_what_is_worse() -> None:
    rose = {"tokens_sent": 1_100.0, "future_use": 0.9, "compactions": 4.0}
    assert verdicts({}, rose) == {"tokens_sent": "worse", "future_use": "better", "compactions": "changed"}
    assert verdicts(rose, {}) == {"tokens_sent": "better", "future_use": "worse", "compactions": "changed"}


def test_only_what_is_worse_or_missing_fails() -> None:
    def fails(values: dict[str, float | None]) -> bool:
        return diff(made_report(), made_report(made_score(values))).is_worse

    assert fails({"tokens_sent": 1_001.0}) and fails({"future_use": 0.79}) and fails({"future_use": None})
    assert not fails({"tokens_sent": 999.0}) and not fails({"compactions": 9.0})


def test_a_change_is_worked_out_by_hand() -> None:
    (change, *_) = diff(made_report(), made_report(made_score({"tokens_sent": 1_250.0}))).moved
    assert (change.old, change.new, change.change, change.share) == (1_000.0, 1_250.0, 250.0, 0.25)


def test_a_tolerance_is_a_share_of_the_old_figure_and_its_end_is_within_it() -> None:
    assert verdicts({}, {"tokens_sent": 1_250.0}, tolerance=0.25)["tokens_sent"] == "same"
    assert verdicts({}, {"tokens_sent": 1_251.0}, tolerance=0.25)["tokens_sent"] == "worse"
    named = verdicts({}, {"tokens_sent": 1_250.0, "future_use": 0.79}, tolerance={"tokens_sent": 0.5})
    assert (named["tokens_sent"], named["future_use"]) == ("same", "worse")


def test_no_share_of_nothing_is_allowed() -> None:
    assert verdicts({"tokens_sent": 0.0}, {"tokens_sent": 1.0}, tolerance=0.5)["tokens_sent"] == "worse"


def test_rounding_noise_is_no_change() -> None:
    assert verdicts({"future_use": 0.1 + 0.2}, {"future_use": 0.3})["future_use"] == "same"


def test_a_figure_that_came_or_went_is_said() -> None:
    assert verdicts({"future_use": None}, {})["future_use"] == "new"
    assert verdicts({}, {"future_use": None})["future_use"] == "missing"
    assert "future_use" not in verdicts({"future_use": None}, {"future_use": None})


def test_a_replay_that_came_or_went_is_one_line() -> None:
    other = made_score(transcript="other", data="d1")
    gone = diff(made_report(made_score(), other), made_report())
    came = diff(made_report(), made_report(made_score(), other))
    assert [(one.transcript, one.verdict) for one in gone.moved] == [("other", "missing")] and gone.is_worse
    assert [(one.transcript, one.verdict) for one in came.moved] == [("other", "new")] and not came.is_worse


def test_settings_may_change_where_it_stays_clear_which_replay_is_meant() -> None:
    small, large = made_score(settings={"keep": 4}), made_score({"tokens_sent": 2_000.0}, settings={"keep": 8})
    larger = made_score({"tokens_sent": 3_000.0}, settings={"keep": 9})
    assert diff(made_report(small), made_report(large)).moved[0].new == 2_000.0
    both = diff(made_report(small, large), made_report(larger, small))
    assert [(one.old, one.new) for one in both.moved] == [(2_000.0, 3_000.0)]


def test_the_order_of_replays_does_not_matter() -> None:
    here, there = made_score(), made_score({"tokens_sent": 5.0}, window=32_000)
    assert diff(made_report(here, there), made_report(there, here)).counts == {"same": 6}


def test_the_gravest_comes_first_and_is_shown_with_its_direction() -> None:
    new = made_score({"tokens_sent": 1_500.0, "future_use": 0.9, "compactions": 4.0})
    found = diff(made_report(), made_report(new, version="2"))
    assert [one.verdict for one in found.moved] == ["worse", "changed", "better"]
    assert list(found.df["verdict"]) == ["worse", "better", "changed"]
    for shown in (str(found), found._repr_mimebundle_()["text/html"]):
        assert "tokens_sent (lower is better)" in shown and "+50 %" in shown and "made by harness_nb 1 and 2" in shown


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"metrics": ["tokens"]}, "no metric 'tokens'"),
        ({"tolerance": {"tokens": 0.1}}, "no metric 'tokens'"),
        ({"tolerance": -0.1}, "tolerance=-0.1 is no share"),
        ({"tolerance": float("nan")}, "tolerance=nan is no share"),
    ],
)
def test_wrong_metrics_and_tolerances_are_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        diff(made_report(), made_report(), **how)


def test_reports_that_have_nothing_in_common_are_refused() -> None:
    with pytest.raises(ConfigError, match="no replay in common"):
        diff(made_report(), made_report(made_score(data="other")))


def test_reports_that_count_tokens_differently_are_refused() -> None:
    with pytest.raises(ConfigError, match="counted by 'characters / 4' in the old report and by 'o200k'"):
        diff(made_report(), made_report(made_score(counter="o200k")))


def test_only_the_metrics_that_count_are_compared() -> None:
    assert verdicts({}, {"tokens_sent": 2_000.0}, metrics=["future_use"]) == {"future_use": "same"}
