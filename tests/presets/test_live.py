"""One scripted conversation through every preset and variant, live and guarded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.rounds import problems
from harness_nb.model.base import ModelRequest
from harness_nb.model.scripted import ScriptedModel

WINDOW = 24_000
TURNS = 36
RESULT_CHARS = 5_000

ALL = [
    pytest.param(name, variant, id=f"{name}-{variant}" if variant else name)
    for name in presets.names()
    for variant in (presets.get(name).variants or ("",))
]


def look_up(topic: str) -> str:
    """Looks a topic up in the archive."""
    return f"{topic}: " + "row of the archive, " * (RESULT_CHARS // 20)


class Talk:
    """A model that looks something up in each turn, two things at once in every fifth, and then answers."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: ModelRequest) -> Any:
        last = next(one for one in reversed(request.messages) if one.origin != "harness")  # past a system's own notes
        if last.role == "tool":
            return "Found it. " + "The answer in some words. " * 20
        self.calls += 1
        count = 2 if self.calls % 5 == 0 else 1
        return [ToolCall(f"c{self.calls}-{at}", "look_up", f'{{"topic": "t{self.calls}"}}') for at in range(count)]


@pytest.fixture
def agent(request: pytest.FixtureRequest, workspace: Path, clock: Clock) -> Iterator[HarnessAgent]:
    """An agent with the preset and variant that the test names."""
    name, variant = request.param
    preset = presets.get(name, **({"variant": variant} if variant else {}))
    model = ScriptedModel(chat=[Talk()], repeat_last=True, window=WINDOW)
    made = HarnessAgent(
        model=model,
        preset=preset,
        workspace=workspace,
        clock=clock,
        tools=[look_up],
        window=WINDOW,
        permissions="allow",
    )
    yield made
    made.close()


def pairs() -> list[Any]:
    return [pytest.param(one.values, id=one.id) for one in ALL]


def words(message: Message) -> str:
    return f"{message.role}:{message.text}"


@pytest.mark.parametrize("agent", pairs(), indirect=True)
def test_a_conversation_stays_valid_keeps_the_request_and_loses_no_text(agent: HarnessAgent) -> None:
    model = agent.model
    assert isinstance(model, ScriptedModel)
    said = [f"Question {turn}: what of topic {turn}? " + "Some context. " * 12 for turn in range(TURNS)]
    for text in said:
        before = len(model.requests)
        agent.ask(text)
        sent = [one for one in model.requests[before:] if one.purpose == "chat"]
        assert len(sent) == 2
        for request in sent:
            assert problems(request.messages) == ()
            assert any(message.role == "user" and text in message.text for message in request.messages)
    log = agent.messages
    assert [message.text for message in log if message.origin == "user"] == said
    assert all(message.text == look_up(message.text.partition(":")[0]) for message in log if message.role == "tool")
    assert sum(message.role == "assistant" for message in log) == 2 * TURNS
    acts = agent.preset.policy is not None and "request" in agent.preset.policy.hooks  # else by hand only
    assert any(isinstance(event, CompactionFinished) for event in agent.events) or not acts


@pytest.mark.parametrize("agent", pairs(), indirect=True)
def test_a_session_is_resumed_as_it_stood(agent: HarnessAgent, workspace: Path, clock: Clock) -> None:
    for turn in range(16):
        agent.ask(f"Question {turn}")
    shown, said, session = agent.view().input[:], agent.messages, agent.session
    agent.close()
    again = HarnessAgent(
        model=ScriptedModel(chat=["ok"], window=WINDOW),
        preset=agent.preset,
        workspace=workspace,
        clock=clock,
        tools=[look_up],
        window=WINDOW,
        session=session,
    )
    try:
        assert [words(item.message) for item in again.view().input] == [words(item.message) for item in shown]
        assert [words(message) for message in again.messages] == [words(message) for message in said]
    finally:
        again.close()
