"""Survival of canaries under policies, small enough to work out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from harness_nb import CompactionPolicy, Message, Plan, ScriptedModel, Transcript, View, edits, presets
from harness_nb.core.requests import Ask
from harness_nb.errors import ConfigError
from harness_nb.lab.canaries import canaries
from harness_nb.lab.canaries.items import KINDS
from harness_nb.lab.canaries.report import CanaryReport, cliff
from tests.lab.canaries.test_planting import work


class LastMessages(CompactionPolicy):
    """Keeps the last messages and nothing else, whatever the window."""

    hooks = frozenset({"manual"})

    def __init__(self, keep: int) -> None:
        self.keep = keep

    def plan(self, view: View) -> Plan:
        return view.becomes(view.input[-self.keep :], f"kept {self.keep}")


class ByWindow(CompactionPolicy):
    """Keeps as many of the last tokens as a quarter of the window takes."""

    hooks = frozenset({"manual"})

    def plan(self, view: View) -> Plan:
        return view.becomes(view.cut(keep_tokens=view.model.window // 4).recent, "kept a quarter")


class Summary(CompactionPolicy):
    """One summary of everything, then the rest of the turn."""

    hooks = frozenset({"manual"})

    def plan(self, view: View) -> Plan:
        cut = view.cut(keep_messages=2)
        return view.becomes((edits.summary(view.reply(Ask.summary(cut.old)), of=cut.old), *cut.recent), "summarised")


def survivals(report: CanaryReport, share: float, kind: str) -> list[float]:
    return [one.survival for one in report.outcomes(report.policies[0], share, kind)]  # type: ignore[arg-type]


def test_what_only_keeps_the_end_loses_every_kind_at_once() -> None:
    report = canaries(work(), LastMessages(3), budgets=(0.3,), model=None)
    for kind in KINDS:
        assert survivals(report, 0.3, kind) == [0.0] * 5
        assert report.cliff_round("LastMessages", 0.3, kind) == 1


def test_what_a_model_repeats_survives_until_it_is_left_out() -> None:
    talk = work()
    said = canaries(talk, Summary(), budgets=(0.9,), model=None, per_kind=2).trials[0].canaries
    everything = "\n".join(text for one in said for text in one.said)
    rules = "\n".join(text for one in said if one.kind == "safety rule" for text in one.said)
    half = rules.partition("\n")[0]
    model = ScriptedModel(summary=[everything, everything, rules, half, "nothing"], repeat_last=True)
    report = canaries(talk, Summary(), budgets=(0.9,), model=model, per_kind=2)
    assert report.trials[0].held.is_held
    assert survivals(report, 0.9, "safety rule") == [1.0, 1.0, 1.0, 0.5, 0.0]
    assert survivals(report, 0.9, "fact") == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert report.cliff_round("Summary", 0.9, "safety rule") == 5
    assert report.cliff_round("Summary", 0.9, "fact") == 3
    update = report.outcomes("Summary", 0.9, "updated value")
    assert [(one.stale, one.misled) for one in update] == [(2, 0), (2, 0), (0, 0), (0, 0), (0, 0)]


def test_the_cliff_is_the_first_round_below_half() -> None:
    assert cliff([1.0, 0.5, 0.49, 0.6]) == 3
    assert cliff([1.0, 0.5]) is None


def test_a_policy_is_held_by_the_largest_window_with_which_every_round_fits() -> None:
    report = canaries(work(), ByWindow(), budgets=(0.2,), model=None)
    held = report.trials[0].held
    assert held.is_held and held.largest <= report.trials[0].budget_tokens
    assert held.setting == f"window {4 * report.trials[0].budget_tokens:,}"


class ByAThird(ByWindow):
    """As long as everything fits a third of the window it does nothing."""

    def plan(self, view: View) -> Plan:
        if view.tokens < view.model.window // 3:
            return view.unchanged("it fits")
        return ByWindow.plan(self, view)


def test_values_without_an_effect_do_not_end_the_search() -> None:
    held = canaries(work(), ByAThird(), budgets=(0.2,), model=None).trials[0].held
    assert held.is_held and held.setting.startswith("window ")


def test_a_policy_that_no_window_moves_is_shown_as_not_held() -> None:
    report = canaries(work(), LastMessages(40), budgets=(0.1,), model=None)
    held = report.trials[0].held
    assert not held.is_held and held.largest > report.trials[0].budget_tokens
    assert "not held: " in str(report) and not report.df["is_held"].any()


def test_a_preset_is_held_by_its_own_setting_and_keeps_the_others() -> None:
    preset = presets.get("harness", summary_prompt="Sum up: {messages}")
    report = canaries(work(), [preset, "eney", "gemini-cli"], budgets=(0.3,), model=None, per_kind=1)
    assert [trial.held.setting.split()[0] for trial in report.trials] == ["keep_tokens", "window", "preserve_fraction"]


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_can_be_tried(name: str) -> None:
    report = canaries(work(), name, budgets=(0.3,), per_kind=1, rounds=2)
    assert [one.round for one in report.outcomes(report.policies[0], 0.3, "fact")] == [1, 2]


def test_the_frame_has_a_row_for_each_round_and_kind_and_the_same_columns_when_empty() -> None:
    from harness_nb.frames.trials import canaries_frame

    report = canaries(work(), ["harness", "eney"], budgets=(0.1, 0.3), seeds=(0, 1), model=None, per_kind=1)
    frame = report.df
    assert len(frame) == 2 * 2 * 2 * 5 * len(KINDS)
    pd.testing.assert_series_equal(frame.dtypes, canaries_frame([]).dtypes)
    assert frame.loc[frame["kind"] == "fact", "stale"].isna().all()
    assert "replies by assumed" in str(report) and "floor of each policy" in str(report)
    assert len(report._repr_mimebundle_()["text/html"]) < 20_000


def test_equal_calls_give_equal_reports() -> None:
    first, second = (canaries(work(), "hermes", budgets=(0.2,), per_kind=2) for _ in range(2))
    assert first.records == second.records


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"budgets": (1.5,)}, "1.5"),
        ({"rounds": 0}, "rounds"),
        ({"per_kind": 0}, "per_kind"),
        ({"seeds": ()}, "nothing"),
    ],
)
def test_numbers_out_of_range_are_refused(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        canaries(work(), model=None, **given)  # type: ignore[arg-type]


def test_a_transcript_that_is_too_short_is_refused() -> None:
    with pytest.raises(ConfigError, match="too few"):
        canaries(Transcript([Message.user("a"), Message.assistant("b")]), model=None)


def test_progress_is_told_after_each_trial() -> None:
    told: list[tuple[int, int]] = []
    canaries(
        work(),
        "eney",
        budgets=(0.1, 0.2),
        model=None,
        per_kind=1,
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(1, 2), (2, 2)]
