from __future__ import annotations

import _thread
import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from harness_nb.agent.agent import HarnessAgent
from harness_nb.agent.calls import INTERRUPTED
from harness_nb.core import edits
from harness_nb.core.events import CompactionFinished, CompactionStarted, Interrupted, TextPiece
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.model.base import Delta, ModelRequest
from harness_nb.model.scripted import ScriptedModel
from harness_nb.presets import Preset
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, talk_of

THREE = [ToolCall(f"c{at}", "work", f'{{"part": {at}}}') for at in range(3)]


def work(part: int) -> str:
    """The second part is stopped by the user."""
    if part == 1:
        raise KeyboardInterrupt
    return f"part {part} done"


async def work_async(part: int) -> str:
    if part == 1:
        raise KeyboardInterrupt
    return f"part {part} done"


def ask(agent: HarnessAgent) -> None:
    agent.ask("do all three")


def follow(agent: HarnessAgent) -> None:
    list(agent.follow("do all three"))


def aask(agent: HarnessAgent) -> None:
    asyncio.run(agent.aask("do all three"))  # type: ignore[arg-type]


def stream(agent: HarnessAgent) -> None:
    async def take() -> None:
        async for _ in agent.stream("do all three"):
            pass

    asyncio.run(take())


@pytest.mark.parametrize("form", [ask, follow, aask, stream])
@pytest.mark.parametrize("tool", [work, work_async])
def test_r097_an_interrupt_in_the_second_of_three_calls_leaves_an_answer_for_each(
    make: Make, form: Any, tool: Any
) -> None:
    calls = [ToolCall(call.id, tool.__name__, call.arguments) for call in THREE]
    agent = make(calls, "all is well", tools=[tool])
    with pytest.raises(KeyboardInterrupt):
        form(agent)
    answers = [(message.call_id, message.status, message.text) for message in agent.messages if message.role == "tool"]
    assert answers == [
        ("c0", "ok", "part 0 done"),
        ("c1", "interrupted", INTERRUPTED),
        ("c2", "interrupted", INTERRUPTED),
    ]
    assert len(events(agent, Interrupted)) == 1
    assert agent.ask("go on").text == "all is well"
    assert all_valid(agent)


def test_r097_ids_that_were_used_before_are_answered_once_after_an_interrupt(make: Make) -> None:
    twice = [ToolCall("c0", "work", '{"part": 0}'), ToolCall("c0", "work", '{"part": 1}')]
    agent = make(twice[0], "fine", twice, "and on", tools=[work])
    agent.ask("do one")
    with pytest.raises(KeyboardInterrupt):
        agent.ask("do two")
    assert [message.status for message in agent.messages if message.role == "tool"] == ["ok", "ok", "interrupted"]
    agent.ask("go on")
    assert all_valid(agent) and agent.warnings == ()


def test_an_interrupt_raised_by_the_model_reaches_the_caller_and_the_loop_lives_on(make: Make) -> None:
    agent = make(KeyboardInterrupt(), "still here")
    with pytest.raises(KeyboardInterrupt):
        agent.ask("hello")
    assert agent.ask("hello?").text == "still here"


def test_an_interrupt_of_the_question_for_consent_stops_the_turn(make: Make) -> None:
    from harness_nb.agent.permissions import Permissions

    def stopped(*_: object) -> bool:
        raise KeyboardInterrupt

    agent = make(THREE, "fine", tools=[work], permissions=Permissions(default="ask", asker=stopped))
    with pytest.raises(KeyboardInterrupt):
        agent.ask("do it")
    assert agent.ask("go on").text == "fine" and all_valid(agent)


class Endless(ScriptedModel):
    """Streams for ever, and says when it has begun."""

    def __init__(self) -> None:
        super().__init__(chat=["never"])
        self.began = threading.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        from harness_nb.model.base import TextDelta

        self.requests.append(request)
        while True:
            yield TextDelta("word ")
            self.began.set()
            await asyncio.sleep(0.001)


def interrupt_when(event: threading.Event) -> threading.Thread:
    """Sends the main thread what Ctrl-C sends, once the event is set."""

    def send() -> None:
        if event.wait(10):
            _thread.interrupt_main()

    sender = threading.Thread(target=send)
    sender.start()
    return sender


def test_an_interrupt_while_an_answer_streams_stops_within_a_second_and_keeps_what_came(make: Make) -> None:
    model = Endless()
    agent = make(model=model)
    sender = interrupt_when(model.began)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.ask("tell me a story")
    assert time.monotonic() - begun < 1
    sender.join()
    assert agent.messages[-1].finish == "interrupted" and agent.messages[-1].text.startswith("word ")
    assert all_valid(agent)


def test_an_interrupt_while_a_tool_runs_stops_within_a_second_and_the_call_is_answered(make: Make) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        may_end.wait(10)
        return "too late"

    agent = make([ToolCall("c1", "slow")], "next", tools=[slow])
    sender = interrupt_when(began)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.ask("go")
    assert time.monotonic() - begun < 1
    sender.join()
    may_end.set()
    assert [message.text for message in agent.messages if message.role == "tool"] == [INTERRUPTED]
    assert agent.ask("go on").text == "next"
    assert "too late" not in str(talk_of(chats(agent)[-1])) and all_valid(agent)


def test_closing_the_iterator_stops_the_turn(make: Make) -> None:
    agent = make(model=Endless())
    turn = agent.follow("tell me a story")
    for event in turn:
        if isinstance(event, TextPiece):
            break
    turn.close()  # type: ignore[attr-defined]
    assert agent.messages[-1].finish == "interrupted" and len(events(agent, Interrupted)) == 1


def test_leaving_a_stream_or_cancelling_its_task_stops_the_turn(make: Make) -> None:
    async def leave(agent: HarnessAgent) -> None:
        async with aclosing(agent.stream("a story")) as turn:
            async for event in turn:
                if isinstance(event, TextPiece):
                    break

    async def cancel(agent: HarnessAgent) -> None:
        model = agent.model
        assert isinstance(model, Endless)
        task = asyncio.create_task(agent.aask("a story"))  # type: ignore[arg-type]
        while not model.began.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for stop in (leave, cancel):
        agent = make(model=Endless(), name=stop.__name__)
        asyncio.run(stop(agent))
        assert agent.messages[-1].finish == "interrupted" and all_valid(agent)


class Twice(CompactionPolicy):
    """Leaves the oldest messages out, and then asks for a summary of the rest."""

    def plan(self, view: View) -> Plan:
        if len(view.input) < 4 and not view.done:
            return view.unchanged("short")
        if not view.done:
            return view.becomes([edits.note("left out", of=view.input[:2]), *view.input[2:]], "left out", again=True)
        return view.becomes([edits.summary(view.reply(Ask.summary(view.input[:-1])), of=view.input[:-1])], "summed up")


@pytest.mark.parametrize("by_hand", [True, False])
def test_r106_an_interrupt_in_a_compaction_ends_it_with_an_event_and_keeps_what_was_done(
    make: Make, by_hand: bool
) -> None:
    preset = Preset(name="mine", about="Mine.", policy=Twice())
    model = ScriptedModel(chat=["a" * 400] * 3, summary=[KeyboardInterrupt()])
    agent = make(model=model, preset=preset, session="s")
    for turn in range(2):
        agent.ask(f"q{turn} " * 100)
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q2") if not by_hand else agent.compact()
    begun, ended = events(agent, CompactionStarted), events(agent, CompactionFinished)
    assert len(begun) == len(ended) == 2
    assert [(one.outcome, one.reason) for one in ended] == [("completed", "left out"), ("failed", "it was interrupted")]
    shown = [item.message.text for item in agent.view().input]
    agent.close()
    again = make("x", preset=preset, session="s")
    assert [item.message.text for item in again.view().input] == shown and "left out" in shown[0]
