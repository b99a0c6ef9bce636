"""A live session and the replay of its log: the same plans, and the same requests byte for byte.

One conversation for every preset and variant by default, fifty with `pytest -m slow tests/lab/test_live_equals_replay.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness_nb import HarnessAgent, Message, OfflineModel, ScriptedModel, presets, read_transcript, replay
from harness_nb.core.clock import Clock
from harness_nb.core.config import MemoryConfig, PinsConfig, ToolResultEvictionConfig
from harness_nb.core.events import CompactionFinished
from harness_nb.core.item import Item
from harness_nb.core.messages import ToolCall, to_json
from harness_nb.core.requests import Ask
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.view import View
from harness_nb.errors import ContextOverflowError
from harness_nb.lab.run import Replay
from harness_nb.model.base import ModelRequest
from harness_nb.presets import Preset

QUIET = MemoryConfig(flush="never", inject=False, tools=False)
NO_PINS = PinsConfig(rule=False, tool=False)
WORDS = ("sample", "batch_7", "src/main.py", "measured", "again", "0.37", "the", "buffer", "é", "数据", "and", "report")
CONVERSATIONS = 50
NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)

PRESETS = [
    pytest.param(name, variant, id=f"{name} {variant}".strip())
    for name in presets.names()
    for variant in (presets.get(name).variants or ("",))
]


class Talk:
    """A conversation that depends on its seed alone: what the user types, and what the model replies to each request."""

    def __init__(self, seed: int, most_turns: int = 18) -> None:
        chance = Random(seed)
        self.window = chance.choice((12_000, 24_000, 48_000))
        self.largest = self.window // 20  # words of a result: a little more than a quarter of the window
        self.reports_usage = chance.random() < 0.5
        self.evicts = chance.random() < 0.3
        self.asked: list[str] = []
        self.replies: list[Message] = []
        for turn in range(chance.randint(4, most_turns)):
            self.asked.append(said(chance, 400))
            for step in range(chance.choice((0, 0, 1, 1, 2, 4))):
                self.replies.append(calling(chance, f"c{turn}-{step}", self.largest))
            self.replies.append(Message.assistant(said(chance, 300)))


def said(chance: Random, most: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, most))) + "."


def calling(chance: Random, id: str, largest: int) -> Message:
    """A reply that calls tools, one of which may fail, for results of any size."""
    sizes = (0, largest // 50, largest // 50, largest // 10, largest // 10, largest)
    calls = [
        ToolCall(f"{id}-{at}", "look", json.dumps({"words": chance.choice(sizes), "about": said(chance, 60)}))
        for at in range(chance.choice((1, 1, 1, 2, 3)))
    ]
    if chance.random() < 0.1:
        calls[0] = replace(calls[0], arguments=json.dumps({"words": -1, "about": "nothing"}))
    return Message.assistant(said(chance, 20) if chance.random() < 0.4 else None, calls)


def look(words: int, about: str) -> str:
    """Looks something up."""
    if words < 0:
        raise ValueError("there is nothing to look at")
    return f"{about}: " + "a row of the archive, " * words


class Live:
    """A model for the chat that plays a talk and refuses, once a turn, what is above the window."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._played = 0
        self._refused = -1
        self.accepted: list[str] = []
        self.agent: HarnessAgent | None = None

    def __call__(self, request: ModelRequest) -> Any:
        assert self.agent is not None
        view = self.agent.view()
        if view.tokens > view.model.window and self._refused != view.turn:
            self._refused = view.turn
            raise ContextOverflowError("too long", input_tokens=view.tokens, window=view.model.window)
        self.accepted.append(wire(request.messages))
        self._played += 1
        return self._talk.replies[self._played - 1]


def live(talk: Talk, preset: Preset, folder: Path) -> tuple[HarnessAgent, list[str]]:
    """Plays a talk with an agent, which is closed afterwards; gives the requests that were not refused, too."""
    chat = Live(talk)
    model = ScriptedModel(chat=[chat], repeat_last=True, window=talk.window, reports_usage=talk.reports_usage)
    agent = HarnessAgent(
        model=model,
        preset=preset,
        workspace=folder,
        memory=QUIET,
        maintenance=None,
        pins=NO_PINS,
        tools=[look],
        permissions="allow",
        window=talk.window,
        tool_result_eviction=EVICTION if talk.evicts else None,
        clock=Clock.fixed(NOW),
        session="s",
    )
    chat.agent = agent
    with agent:
        for text in talk.asked:
            agent.ask(text)
    return agent, chat.accepted


EVICTION = ToolResultEvictionConfig(max_result_chars=10_000, preview_chars=400)


def replayed(talk: Talk, preset: Preset, folder: Path, seen: View) -> Replay:
    """The replay of what a live session wrote down."""
    transcript = read_transcript(next(folder.rglob("*.log.jsonl")))
    return replay(
        transcript,
        preset,
        window=talk.window,
        model=OfflineModel(window=talk.window),
        measure=Measure(CharsCounter()),
        system=seen.system,
        tools=seen.tools,
        eviction=EVICTION if talk.evicts else None,
    )


def sent(system: str, items: Sequence[Item]) -> str:
    """A list as it is sent: the system texts of a policy join the prompt."""
    texts = [system, *(item.message.text for item in items if item.message.role == "system")]
    talk = [item.message for item in items if item.message.role != "system"]
    return wire([Message.system("\n\n".join(texts)), *talk])


def wire(messages: Sequence[Message]) -> str:
    return to_json([message.to_openai() for message in messages])


def plans_of(agent: HarnessAgent) -> list[tuple[Any, ...]]:
    """What came of each plan, those left out that only rest."""
    return [
        (one.hook, one.outcome, one.detail, one.reason, one.tokens_before, one.tokens_after, one.messages_before)
        + (one.messages_after, one.model_calls, one.repairs)
        for one in agent.events
        if isinstance(one, CompactionFinished) and one.outcome != "skipped"
    ]


def plans_of_replay(run: Replay) -> list[tuple[Any, ...]]:
    return [
        (step.hook, one.outcome, one.plan.outcome, one.reason, one.tokens_before, one.tokens_after, len(one.view.input))
        + (len(one.plan.items(one.view)), sum(isinstance(asked, Ask) for asked, _ in one.asked), one.repairs)
        for step in run.steps
        for one in step.passes
        if one.outcome not in ("skipped", "noted")
    ]


def compare(talk: Talk, preset: Preset, folder: Path) -> int | None:
    """Plays a talk both ways and compares; gives the number of plans, or None where the talk did not come to its end."""
    folder.mkdir()
    try:
        agent, requests = live(talk, preset, folder)
    except ContextOverflowError:
        return None
    run = replayed(talk, preset, folder, agent.view())
    assert plans_of_replay(run) == plans_of(agent)
    assert [sent(step.view.system, items) for step, items in run.contexts()] == requests
    assert run.final.input == agent.view().input
    return len(run.plans)


def chosen(name: str, variant: str) -> Preset:
    return presets.get(name, **({"variant": variant} if variant else {}))


@pytest.mark.parametrize(("name", "variant"), PRESETS)
def test_a_live_session_and_its_replay_make_the_same_plans_and_the_same_requests(
    name: str, variant: str, tmp_path: Path
) -> None:
    assert compare(Talk(0, most_turns=9), chosen(name, variant), tmp_path / "talk")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), PRESETS)
def test_fifty_live_sessions_and_their_replays_make_the_same_plans_and_the_same_requests(
    name: str, variant: str, tmp_path: Path
) -> None:
    preset = chosen(name, variant)
    found = (compare(Talk(seed), preset, tmp_path / f"talk {seed}") for seed in range(2 * CONVERSATIONS))
    whole = list(islice((plans for plans in found if plans is not None), CONVERSATIONS))
    assert len(whole) == CONVERSATIONS
    assert sum(whole) > 0
