"""Policies of one's own under a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness_nb import Ask, CompactionPolicy, HarnessAgent, Message, ScriptedModel, Transcript, edits, presets, replay
from harness_nb.core.plan import Plan
from harness_nb.core.view import View
from harness_nb.errors import ConfigError

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(autouse=True)
def tidy() -> Iterator[None]:
    """Nothing stays registered."""
    before = presets.names()
    yield
    for name in set(presets.names()) - set(before):
        presets.unregister(name)


class KeepSome(CompactionPolicy):
    """Keeps some messages. More of it stands here."""

    def __init__(self, keep: int = 8, at: int = 2_000) -> None:
        self.keep, self.at = keep, at

    def plan(self, view: View) -> Plan:
        if view.tokens < self.at:
            return view.unchanged("short")
        old, recent = view.cut(keep_messages=self.keep)
        return view.becomes([edits.summary(view.reply(Ask.summary(old)), of=old), *recent], "kept some")


def keep_four(view: View, keep: int = 4) -> Plan:
    old, recent = view.cut(keep_messages=keep)
    return view.becomes([edits.note(f"{len(old)} left out"), *recent], "kept four") if old else view.unchanged("short")


def talk(turns: int = 60) -> Transcript:
    return Transcript([m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))])


def test_a_class_is_a_preset_at_once_and_its_parameters_are_settings() -> None:
    assert presets.register("mine", KeepSome) is KeepSome
    assert "mine" in presets.names() == sorted(presets.names())
    preset = presets.get("mine", keep=6)
    assert preset.settings == {"keep": 6, "at": 2_000} and preset.name == "mine"
    assert preset.about == "Keeps some messages. More of it stands here."
    assert preset.policy is not None and preset.policy.name == "mine"
    run = replay(talk(), "mine", model=None)
    assert run.policy == "mine" and run.compactions


def test_a_function_is_registered_by_decorator_with_its_further_parameters_as_settings() -> None:
    assert presets.register("four")(keep_four) is keep_four
    assert presets.get("four").settings == {"keep": 4}
    assert presets.get("four").about == "A policy of one's own, with the durable memory of the preset 'harness'."
    run = replay(talk(10), presets.get("four", keep=2), model=None)
    assert len(run.compactions[-1].passes[-1].plan.items(run.final)) <= 4


def test_a_policy_itself_and_a_whole_preset_can_be_registered() -> None:
    presets.register("six", KeepSome(keep=6))
    assert replay(talk(), "six", model=None).compactions
    presets.register("calm", replace(presets.get("eney", thresholds=(50, 60, 70)), about="Acts early."))
    assert presets.get("calm").about == "Acts early." and presets.get("calm").name == "calm"


def test_a_frozen_dataclass_is_a_policy_like_any_other() -> None:
    @presets.register("frozen")
    @dataclass(frozen=True)
    class Frozen(CompactionPolicy):
        """Does nothing."""

        keep: int = 3

        def plan(self, view: View) -> Plan:
            return view.unchanged("never")

    preset = presets.get("frozen", keep=5)
    assert preset.settings == {"keep": 5} and preset.about == "Does nothing."
    assert preset.policy is not None and preset.policy.name == "frozen"


def test_a_cell_that_registers_can_be_run_again() -> None:
    presets.register("mine", KeepSome)
    presets.register("mine", keep_four)
    assert presets.names().count("mine") == 1
    assert presets.get("mine").settings == {"keep": 4}


def test_it_runs_live_under_its_name_and_its_session_is_resumed(workspace: Path) -> None:
    presets.register("mine", KeepSome)
    model = ScriptedModel(chat=["word " * 60], summary=["the summary"], flush=["NO_REPLY"], repeat_last=True)
    with HarnessAgent("lab", model=model, preset="mine", workspace=workspace) as agent:
        for number in range(30):
            agent.ask(f"q{number} " * 40)
        assert {event.policy for event in agent.events if event.kind == "compaction_finished"} == {"mine"}  # type: ignore[attr-defined]  # that kind has one
        assert any(item.how == "summary" for item in agent.view().input)
        assert "memory_search" in agent.tools


def _no_view() -> Plan:
    raise AssertionError


async def _later(view: View) -> Plan:
    return view.unchanged("never")


class _Needs(CompactionPolicy):
    def __init__(self, keep: int) -> None:
        self.keep = keep

    def plan(self, view: View) -> Plan:
        return view.unchanged("never")


class _Bare(CompactionPolicy):
    pass


@pytest.mark.parametrize(
    ("name", "policy", "problem"),
    [
        ("two words", KeepSome, "'two words' is no name"),
        ("", KeepSome, "'' is no name"),
        (5, KeepSome, "5 is no name"),
        ("hermes", KeepSome, "There is a preset 'hermes' already"),
        ("mine", 5, "5 is no policy"),
        ("mine", int, "<class 'int'> is no policy"),
        ("mine", _later, "is no policy"),
        ("mine", _no_view, "'mine' takes no view"),
        ("mine", _Needs, "'mine' can't be made without keep"),
        ("mine", _Bare, "_Bare has no plan"),
    ],
)
def test_what_is_no_policy_or_has_no_proper_name_is_refused(name: Any, policy: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
        presets.register(name, policy)
    assert caught.value.remedy and "mine" not in presets.names()


def test_an_unknown_setting_and_an_unknown_name_are_refused() -> None:
    presets.register("mine", KeepSome)
    with pytest.raises(ConfigError, match="no setting 'keeep'"):
        presets.get("mine", keeep=5)
    presets.unregister("mine")
    with pytest.raises(ConfigError, match="'mine' is not registered"):
        presets.unregister("mine")
    with pytest.raises(ConfigError, match="no preset 'mine'"):
        presets.get("mine")


def test_a_policy_that_answers_with_something_else_costs_nobody_a_turn() -> None:
    presets.register("odd", lambda view: None)
    run = replay(talk(3), "odd", model=None)
    assert len(run.final.input) == 6 and run.totals.failures


def test_the_policy_of_the_readme_is_written_in_fifteen_lines_and_seen_everywhere() -> None:
    text = README.read_text(encoding="utf-8")
    code = next(one for one in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "presets.register" in one)
    cell = code.partition("\n\n\nrun = ")[0]
    assert len([line for line in cell.splitlines() if line.strip()]) <= 15
    names: dict[str, Any] = {}
    exec(cell, names)  # noqa: S102
    own = [name for name in presets.names() if presets.get(name).policy.__class__.__name__ in names]
    assert len(own) == 1
    assert replay(Transcript([*talk(), *talk(200)]), own[0], model=None).compactions
