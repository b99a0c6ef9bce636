"""Preset `picoclaw`: its settings, and live what the guards prevent of the faults that were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError, ContextOverflowError, ModelError
from harness_nb.model.base import ModelRequest
from harness_nb.model.scripted import ScriptedModel

WINDOW = 24_000
Agents = Callable[..., HarnessAgent]


@pytest.fixture
def agents(workspace: Path, clock: Clock) -> Iterator[Agents]:
    """Makes agents with the preset, closed afterwards."""
    made: list[HarnessAgent] = []

    def make(model: ScriptedModel, tools: tuple[Any, ...] = (), **settings: Any) -> HarnessAgent:
        agent = HarnessAgent(
            model=model,
            preset=presets.get("picoclaw", **settings),
            workspace=workspace,
            clock=clock,
            window=WINDOW,
            tools=tools,
            permissions="allow",
        )
        made.append(agent)
        return agent

    yield make
    for agent in made:
        agent.close()


def answering(**scripts: Any) -> ScriptedModel:
    """A model with a script for the chat, and others by the purposes of the policy's requests."""
    return ScriptedModel(chat=["answer " * 40], repeat_last=True, window=WINDOW, purposes=scripts)


def talk(agent: HarnessAgent, turns: int) -> None:
    for at in range(turns):
        agent.ask(f"request {at}: " + "please look into it " * 20)


def compactions(agent: HarnessAgent) -> list[CompactionFinished]:
    return [one for one in agent.events if isinstance(one, CompactionFinished)]


def sent(agent: HarnessAgent) -> tuple[Message, ...]:
    """What the last request of the loop sent."""
    assert isinstance(agent.model, ScriptedModel)
    return next(one.messages for one in reversed(agent.model.requests) if one.purpose == "chat")


def look(topic: str) -> str:
    """Looks a topic up."""
    return f"{topic} " * 60


def stepping(count: int) -> Callable[[ModelRequest], Any]:
    """Looks so many things up in each turn and then answers."""
    calls = [0]

    def answer(request: ModelRequest) -> Any:
        calls[0] += 1
        if calls[0] % (count + 1) == 0:
            return "Found it all. " * 10
        return [ToolCall(f"c{calls[0]}", "look", f'{{"topic": "t{calls[0]}"}}')]

    return answer


# Settings


def test_each_variant_has_its_own_settings() -> None:
    legacy, seahorse = presets.get("picoclaw"), presets.get("picoclaw", variant="seahorse")
    assert (legacy.variant, legacy.variants) == ("legacy", ("legacy", "seahorse"))
    assert "keep_last" in legacy.settings and "keep_last" not in seahorse.settings
    assert seahorse.settings["fresh_tail"] == 32


@pytest.mark.parametrize(
    "wrong", [{"variant": "lcm"}, {"fresh_tail": 3}, {"variant": "seahorse", "keep_last": 4}, {"notes_days": -1}]
)
def test_a_setting_of_the_other_variant_or_a_wrong_one_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        presets.get("picoclaw", **wrong)


# The legacy manager, live


def test_the_summary_is_data_in_a_block_of_the_user_and_not_in_the_system_prompt(agents: Agents) -> None:
    agent = agents(answering(summary=["likes rye"], merge=["likes rye and tea"]))
    talk(agent, 12)
    messages = sent(agent)
    holders = [message.role for message in messages if "likes rye and tea" in message.text]
    assert holders == ["user"]
    assert any("out of the system role" in repair for one in compactions(agent) for repair in one.repairs)


def test_a_summary_that_failed_replaces_nothing_live(agents: Agents) -> None:
    agent = agents(answering(summary=[ModelError("boom")], merge=[ModelError("boom")]))
    talk(agent, 14)
    outcomes = {one.outcome for one in compactions(agent)}
    assert "failed" in outcomes and "completed" not in outcomes
    assert any(message.text.startswith("request 0:") for message in sent(agent))


def test_the_earlier_summary_is_forgotten_and_can_be_kept(agents: Agents) -> None:
    forgets = agents(answering(summary=["of the first turns"], merge=["all"]))
    talk(forgets, 22)
    keeps = agents(answering(summary=["of the first turns"], merge=["all"]), carries_summary=True)
    talk(keeps, 22)
    shown = [
        any("<previous_summary>" in one.messages[0].text for one in agent.model.requests if one.purpose == "summary")
        for agent in (forgets, keeps)
    ]
    assert shown == [False, True]


def test_after_an_overflow_of_one_long_turn_its_rounds_stay_whole(agents: Agents) -> None:
    chat = [[ToolCall(f"c{at}", "look", '{"topic": "t"}')] for at in range(6)]
    model = ScriptedModel(chat=[*chat, ContextOverflowError("too many tokens", window=WINDOW), "done"], window=WINDOW)
    agent = agents(model, (look,))
    agent.ask("look it all up")
    messages = sent(agent)
    assert problems([message for message in messages if message.role != "system"]) == ()
    assert any(message.text == "look it all up" for message in messages)
    assert messages[-1].role == "tool"


def test_what_was_summarised_stays_in_the_session_s_log(agents: Agents) -> None:
    agent = agents(answering(summary=["s"], merge=["s"]))
    talk(agent, 14)
    assert sum(message.text.startswith("request ") for message in agent.messages) == 14


# Seahorse, live


def test_leaves_that_part_a_call_from_its_result_are_mended(agents: Agents) -> None:
    agent = agents(
        ScriptedModel(chat=[stepping(6)], purposes={"leaf1": ["s"]}, repeat_last=True, window=WINDOW),
        (look,),
        variant="seahorse",
    )
    for at in range(8):
        agent.ask(f"request {at}")
        talked = [message for message in sent(agent) if message.role != "system"]
        assert problems(talked) == ()
        assert any(message.text == f"request {at}" for message in talked)
    assert any("completed a round" in repair for one in compactions(agent) for repair in one.repairs)


def test_no_call_or_result_is_lost_for_the_sake_of_its_neighbour(agents: Agents) -> None:
    agent = agents(
        ScriptedModel(chat=[stepping(6)], purposes={"leaf1": ["s"]}, repeat_last=True, window=WINDOW),
        (look,),
        variant="seahorse",
    )
    for at in range(8):
        agent.ask(f"request {at}")
    stood = {index for item in agent.view().input for index in item.indices}
    assert stood == set(range(len(agent.messages)))


def test_large_messages_at_the_start_block_it_and_can_be_made_not_to(agents: Agents) -> None:
    def made(**settings: Any) -> int:
        agent = agents(answering(leaf1=["s"]), variant="seahorse", leaf_chunk_tokens=200, fresh_tail=4, **settings)
        talk(agent, 10)
        return sum(one.outcome == "completed" for one in compactions(agent))

    assert made() == 0
    assert made(passes_large_head=True) > 0


# The memory, live


def test_the_model_s_notes_are_in_the_next_request(agents: Agents) -> None:
    note = ToolCall("c1", "append_file", '{"path": "memory/MEMORY.md", "content": "- likes rye"}')
    agent = agents(ScriptedModel(chat=[[note], "noted", "rye"], window=WINDOW))
    agent.ask("I like rye")
    agent.ask("what do I like?")
    assert any("- likes rye" in message.text for message in sent(agent) if message.origin == "harness")
