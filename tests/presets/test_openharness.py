"""Preset `openharness`: its settings and variants, and live what the guards prevent of the faults that were recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.limits import ModelLimits
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError, ContextOverflowError, ModelError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.policies.openharness.policy import OpenHarnessPolicy
from harness_nb.policies.openharness.record import OpenHarnessRecord

Agents = Callable[..., HarnessAgent]


@pytest.fixture
def agents(workspace: Path, clock: Clock) -> Any:
    """Makes agents with the preset, closed afterwards."""
    made: list[HarnessAgent] = []

    def make(*, window: int = 60_000, chat: list[Any] | None = None, **settings: Any) -> HarnessAgent:
        scripts = {"summary": settings.pop("summary", ["<summary>What was said.</summary>"])}
        model = ScriptedModel(chat=chat or ["answer " * 200], repeat_last=True, window=window, **scripts)
        preset = presets.get("openharness", **settings)
        made.append(HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock, window=window))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def talk(agent: HarnessAgent, turns: int) -> None:
    for at in range(turns):
        agent.ask(f"request {at}: " + "please look into it " * 30)
        assert problems([item.message for item in agent.view().input], needs_reply=False) == ()


def compactions(agent: HarnessAgent) -> list[CompactionFinished]:
    return [one for one in agent.events if isinstance(one, CompactionFinished)]


def shown(agent: HarnessAgent) -> str:
    return "\n".join(item.message.text for item in agent.view().input)


def test_the_threshold_is_167_000_of_a_window_that_is_200_000_whatever_the_model() -> None:
    preset = presets.get("openharness")
    limits = preset.limits(ModelLimits(name="anything", window=8_000))
    assert limits.window == 200_000
    assert isinstance(preset.policy, OpenHarnessPolicy) and preset.policy.config.threshold(limits.window) == 167_000


def test_variants_are_settings() -> None:
    shipped, described, first = (presets.get("openharness", variant=one) for one in presets.get("openharness").variants)
    assert (shipped.settings["session_memory"], described.settings["session_memory"]) == (True, False)
    assert first.policy is not None and first.policy.hooks == {"manual", "overflow"}
    assert presets.get("openharness", variant="v0_1_0", padding=2.0).settings["padding"] == 2.0


def test_an_unknown_setting_or_variant_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="keep_message"):
        presets.get("openharness", keep_message=1)
    with pytest.raises(ConfigError, match="v0_1_0"):
        presets.get("openharness", variant="v1")


def test_a_marker_that_only_makes_the_list_longer_is_refused(agents: Agents) -> None:
    agent = agents(window=33_000)
    talk(agent, 2)
    assert "[Compaction marker]" not in shown(agent)
    assert all(one.outcome != "completed" for one in compactions(agent))


def test_an_empty_summary_is_refused(agents: Agents) -> None:
    agent = agents(auto_compact_threshold_tokens=3_000, summary=["<analysis>only thoughts</analysis>"])
    talk(agent, 6)
    assert "request 0" in shown(agent)
    assert any(one.outcome == "failed" for one in compactions(agent))


def test_a_failing_model_costs_no_turn_and_is_not_asked_on_every_request(agents: Agents) -> None:
    agent = agents(auto_compact_threshold_tokens=2_000, summary=[ModelError("down", "wait")], session_memory=False)
    talk(agent, 12)
    assert isinstance(agent.model, ScriptedModel)
    asked = sum(one.purpose == "summary" for one in agent.model.requests)
    assert 3 <= asked <= 24 and "request 0" in shown(agent)


def test_the_latest_request_stays_word_for_word_when_a_long_turn_would_lose_it(agents: Agents) -> None:
    agent = agents(auto_compact_threshold_tokens=1_500)
    talk(agent, 12)
    assert any(one.outcome == "completed" for one in compactions(agent))
    assert "request 11" in shown(agent) and len(agent.messages) == 24


def test_an_overflow_in_words_that_the_system_does_not_know_is_recovered_all_the_same(agents: Agents) -> None:
    refused = ContextOverflowError("prompt is too long: 9 tokens > 8 maximum", "Compact.")
    agent = agents(chat=[*["answer " * 200] * 12, refused, "after all"])
    talk(agent, 13)
    assert agent.messages[-1].text == "after all"
    assert [one.hook for one in compactions(agent) if one.outcome == "completed"] == ["overflow"]


def test_the_first_version_compacts_by_hand_without_a_model(agents: Agents) -> None:
    agent = agents(variant="v0_1_0")
    talk(agent, 8)
    assert not compactions(agent)
    agent.compact()
    assert isinstance(agent.model, ScriptedModel) and all(one.purpose == "chat" for one in agent.model.requests)
    assert compactions(agent)[-1].outcome == "completed" and "request 7" in shown(agent)


def test_the_checkpoint_of_the_last_turn_takes_the_place_of_older_messages(agents: Agents) -> None:
    agent = agents()
    talk(agent, 10)
    state = agent.view().state
    assert isinstance(state, OpenHarnessRecord) and "request 9" in state.checkpoint
    tight = agents(auto_compact_threshold_tokens=6_200)
    talk(tight, 14)
    assert any(item.meta.get("source") == "checkpoint" for item in tight.view().input)
