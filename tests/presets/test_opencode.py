"""Preset `opencode`: its settings, and live what the guards prevent of the faults that were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError, ContextOverflowError, ModelError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.policies.opencode.session import FAILED_TEXT, MARKER_TEXT

WINDOW = 24_000
Agents = Callable[..., HarnessAgent]


@pytest.fixture
def agents(workspace: Path, clock: Clock) -> Iterator[Agents]:
    """Makes agents with the preset, closed afterwards."""
    made: list[HarnessAgent] = []

    def make(model: ScriptedModel, **settings: Any) -> HarnessAgent:
        preset = presets.get("opencode", **settings)
        made.append(HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock, window=WINDOW))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def answering(**scripts: Any) -> ScriptedModel:
    return ScriptedModel(**{"chat": ["answer " * 300], "repeat_last": True, "window": WINDOW, **scripts})


def talk(agent: HarnessAgent, turns: int) -> None:
    for at in range(turns):
        agent.ask(f"request {at}: " + "please look into it " * 60)


def compactions(agent: HarnessAgent) -> list[CompactionFinished]:
    return [one for one in agent.events if isinstance(one, CompactionFinished)]


def sent(agent: HarnessAgent) -> tuple[Message, ...]:
    """What the last request of the loop sent."""
    assert isinstance(agent.model, ScriptedModel)
    return next(one.messages for one in reversed(agent.model.requests) if one.purpose == "chat")


# Settings


def test_the_variants_differ_in_the_tail_and_in_what_the_summary_is_shown() -> None:
    first, later = (presets.get("opencode", variant=one).settings for one in ("1.18.3", "1.18.33"))
    differing = {name for name in first if first[name] != later[name]}
    assert presets.get("opencode").variant == "1.18.3"
    assert differing == {"tail_turns", "tail_cap", "summary_input"}
    assert (later["tail_turns"], later["tail_cap"]) == (None, 15_000)


def test_a_setting_of_the_user_goes_before_the_variant_s() -> None:
    assert presets.get("opencode", variant="1.18.33", tail_turns=3).settings["tail_turns"] == 3


@pytest.mark.parametrize("wrong", [{"variant": "2.0"}, {"tail_turn": 2}, {"max_lines": 0}])
def test_a_wrong_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        presets.get("opencode", **wrong)


# Live


def test_a_compaction_leaves_marker_summary_and_tail(agents: Agents) -> None:
    agent = agents(answering(summary=["## Objective\n- look into it"]))
    talk(agent, 30)
    assert {one.outcome for one in compactions(agent)} == {"completed"}
    texts = [message.text for message in sent(agent)]
    assert MARKER_TEXT in texts and "## Objective\n- look into it" in texts
    assert problems([message for message in sent(agent) if message.role != "system"]) == ()


@pytest.mark.parametrize("answer", [ModelError("boom"), " \n"], ids=["failed", "blank"])
def test_a_summary_that_failed_or_is_blank_replaces_nothing_live(agents: Agents, answer: Any) -> None:
    agent = agents(answering(summary=[answer]))
    talk(agent, 25)
    outcomes = {one.outcome for one in compactions(agent)}
    assert "failed" in outcomes and "completed" not in outcomes
    said = [message.text for message in sent(agent)]
    assert any(text.startswith("request 0:") for text in said) and MARKER_TEXT not in said


def test_when_the_request_could_not_be_sent_otherwise_the_list_says_what_is_missing(agents: Agents) -> None:
    chat = ["answer " * 300] * 12 + [ContextOverflowError("prompt is too long", window=WINDOW)] + ["answer"] * 9
    agent = agents(answering(chat=chat, summary=[ModelError("boom")]))
    talk(agent, 13)
    assert any(message.text == FAILED_TEXT for message in sent(agent))
    assert any(message.text.startswith("request 12:") for message in sent(agent))


def test_after_an_overflow_the_request_stands_in_the_list_once(agents: Agents) -> None:
    chat = ["answer " * 300] * 6 + [ContextOverflowError("prompt is too long", window=WINDOW)] + ["answer"] * 9
    agent = agents(answering(chat=chat, summary=["## Objective\n- go on"]))
    talk(agent, 7)
    assert sum(message.text.startswith("request 6:") for message in sent(agent)) == 1
    assert compactions(agent)[-1].repairs


def test_a_model_whose_limits_leave_no_room_is_not_compacted_again_and_again(agents: Agents) -> None:
    agent = agents(answering(summary=["## Objective\n- short"]), output_limit=WINDOW, caps_reserve=False)
    talk(agent, 12)
    assert sum(one.model_calls for one in compactions(agent)) < 6


def test_instruction_files_of_the_workspace_are_in_each_request(agents: Agents, workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "AGENTS.md").write_text("Answer in French.", encoding="utf-8")
    agent = agents(answering())
    talk(agent, 1)
    assert any("Answer in French." in message.text for message in sent(agent))


def test_a_long_result_goes_to_a_file_live(workspace: Path, clock: Clock) -> None:
    from harness_nb.core.messages import ToolCall

    def dump(name: str) -> str:
        """Dumps a table."""
        return f"{name} row\n" * 3_000

    chat = [[ToolCall("c1", "dump", '{"name": "a"}')], "done"]
    model = ScriptedModel(chat=chat, window=200_000)
    agent = HarnessAgent(
        model=model, preset="opencode", workspace=workspace, clock=clock, tools=[dump], permissions="allow"
    )
    try:
        agent.ask("dump it")
        result = next(message for message in sent(agent) if message.role == "tool")
        assert "1,001 lines are left out" in result.text and len(result.text) < 20_000
    finally:
        agent.close()
