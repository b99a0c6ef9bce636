"""Preset `hermes`: its settings, and live what the guards prevent of the faults that were recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent import guards
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError, ContextOverflowError, ModelError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.policies.hermes.marks import MARK
from tests.policies.hermes.talks import chat, steps, view_of

WINDOW = 24_000
Agents = Callable[..., HarnessAgent]


@pytest.fixture
def agents(workspace: Path, clock: Clock) -> Any:
    """Makes agents with the preset, closed afterwards."""
    made: list[HarnessAgent] = []

    def make(model: ScriptedModel, **settings: Any) -> HarnessAgent:
        preset = presets.get("hermes", **settings)
        made.append(HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock, window=WINDOW))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def answering(**scripts: Any) -> ScriptedModel:
    return ScriptedModel(**{"chat": ["answer " * 300], "repeat_last": True, "window": WINDOW, **scripts})


def talk(agent: HarnessAgent, turns: int, start: int = 0) -> None:
    for at in range(start, start + turns):
        agent.ask(f"request {at}: " + "please look into it " * 60)


def compactions(agent: HarnessAgent) -> list[CompactionFinished]:
    return [one for one in agent.events if isinstance(one, CompactionFinished)]


def sent(agent: HarnessAgent) -> tuple[Message, ...]:
    """What the last request of the loop sent."""
    assert isinstance(agent.model, ScriptedModel)
    return next(one.messages for one in reversed(agent.model.requests) if one.purpose == "chat")


# Settings


def test_the_shipped_variant_is_the_default_and_the_report_s_acts_at_half_of_the_window() -> None:
    assert presets.get("hermes").variant == "shipped"
    report = presets.get("hermes", variant="report")
    assert (report.settings["threshold_floor"], report.settings["in_place"]) == (0.0, False)
    assert report.settings["head_decay"] is False


def test_a_setting_of_the_user_goes_before_the_variant_s() -> None:
    assert presets.get("hermes", variant="report", head_decay=True).settings["head_decay"] is True


@pytest.mark.parametrize("wrong", [{"variant": "0.20"}, {"treshold": 0.5}, {"memory_char_limit": 0}])
def test_a_wrong_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        presets.get("hermes", **wrong)


# Live


def test_a_summary_that_failed_replaces_nothing_live(agents: Agents) -> None:
    agent = agents(answering(summary=[ModelError("boom")]))
    talk(agent, 28)
    assert not any(message.text.startswith(MARK) for message in sent(agent))
    outcomes = [one.outcome for one in compactions(agent)]
    assert "failed" in outcomes and "completed" not in outcomes


def test_it_stands_for_the_middle_when_the_request_could_not_be_sent_otherwise(agents: Agents) -> None:
    chat = ["answer " * 300] * 12 + [ContextOverflowError("too long", window=WINDOW)] + ["answer"] * 9
    agent = agents(answering(chat=chat, summary=[ModelError("boom")]))
    talk(agent, 13)
    done = compactions(agent)[-1]
    assert (done.outcome, done.detail) == ("completed", "fallback")
    assert any(MARK in message.text for message in sent(agent))
    assert sent(agent)[-1].text.startswith("request 12")


def test_what_the_decay_of_the_start_loses_is_counted_and_stays_in_the_log(agents: Agents) -> None:
    agent = agents(answering(summary=["## Goal\nshort"]))
    talk(agent, 60)
    assert sum(one.gone for one in compactions(agent)) > 0
    assert any("request 0:" in message.text for message in agent._opened.session.conversation.log)
    assert not any("request 0:" in message.text for message in sent(agent))


def test_the_newest_request_stays_whole_and_the_list_valid_after_every_compaction(agents: Agents) -> None:
    agent = agents(answering(summary=["## Goal\nshort"]))
    for at in range(60):
        talk(agent, 1, at)
        assert f"request {at}: " in sent(agent)[-1].text
        assert problems([message for message in sent(agent) if message.role != "system"]) == ()


def test_a_summary_merged_into_the_newest_request_is_kept_with_it() -> None:
    policy = presets.get("hermes", protect_first_n=2).policy
    assert policy is not None
    newest = Message.user("the newest request")
    loop = [replace(one, content="working") if one.calls else one for one in steps(12, 3_000)[1:]]
    view = view_of([*chat(12, 4_000)[:-1], newest, *loop], WINDOW, hook="request")
    verdict = guards.after(view, policy.plan(view))
    merged = next(item for item in verdict.plan.items(view) if item.index == 24)
    assert (merged.how, verdict.refusal, verdict.repairs) == ("merged", "", ())
    assert newest.text in merged.message.text and MARK in merged.message.text


def test_without_any_count_of_the_provider_it_goes_on_compacting(agents: Agents) -> None:
    agent = agents(answering(summary=["## Goal\nshort"]))
    talk(agent, 60)
    assert len(compactions(agent)) > 2
    waiting = agents(answering(summary=["## Goal\nshort"]), waits_for_usage=True)
    talk(waiting, 60)
    assert len(compactions(waiting)) == 1


def test_with_counts_it_goes_by_them(agents: Agents) -> None:
    agent = agents(answering(summary=["## Goal\nshort"], reports_usage=True))
    talk(agent, 60)
    assert {one.outcome for one in compactions(agent)} == {"completed"}
    assert len(compactions(agent)) > 2
