from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.config import CompactionConfig
from harness_nb.core.events import (
    CallFinished,
    CallStarted,
    StepFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Warned,
)
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.wire import DIVIDER
from harness_nb.errors import BudgetError, ConfigError, ModelError, QuotaError, SessionBusyError, ToolError
from harness_nb.model.scripted import Broken, ScriptedModel
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, log_records, talk_of


def call(name: str, call_id: str = "c1", arguments: str = "{}") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def results(agent: Any) -> list[tuple[str, str]]:
    return [(message.status, message.text) for message in agent.messages if message.role == "tool"]


def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


# A turn


def test_an_answer_comes_back_with_its_events_and_figures(make: Make) -> None:
    agent = make("Two.", tools=[add])
    reply = agent.ask("one and one?")
    assert (reply.text, str(reply), reply.window) == ("Two.", "Two.", 128_000)
    assert [type(event) for event in reply.events] == [TurnStarted, StepFinished, TurnFinished]
    assert reply.tokens == agent.view().tokens
    assert [message.text for message in agent.messages] == ["one and one?", "Two."]
    assert agent.last_reply == reply


def test_the_system_prompt_the_memory_block_and_the_tools_come_with_every_request(make: Make) -> None:
    agent = make("a", "b", system_prompt="Be brief.", tools=[add])
    agent.workspace.curated.replace("- likes tea\n")
    agent.ask("x")
    agent.ask("y")
    for request in chats(agent):
        system, memory, *_ = request.messages
        assert system.role == "system" and system.text.startswith("Be brief.")
        assert memory.role == "user" and "- likes tea" in memory.text and memory.origin == "harness"
        assert "add" in [tool.name for tool in request.tools]


def test_a_tool_is_called_and_its_result_goes_back(make: Make) -> None:
    agent = make([call("add", arguments='{"a": 2, "b": 3}')], "Five.", tools=[add])
    assert agent.ask("2 + 3?").text == "Five."
    assert results(agent) == [("ok", "5")]
    assert talk_of(chats(agent)[1])[-1].text == "5"
    (started,), (finished,) = events(agent, CallStarted), events(agent, CallFinished)
    assert (started.name, finished.status, finished.chars) == ("add", "ok", 1)


def test_parallel_calls_are_all_answered_in_their_order(make: Make) -> None:
    calls = [call("add", f"c{at}", f'{{"a": {at}}}') for at in range(3)]
    agent = make(calls, "done", tools=[add])
    agent.ask("all at once")
    assert [(message.call_id, message.text) for message in agent.messages if message.role == "tool"] == [
        ("c0", "1"), ("c1", "2"), ("c2", "3"),
    ]  # fmt: skip
    assert all_valid(agent)


def returns_none() -> None:
    return None


def returns_mapping() -> dict[str, object]:
    return {"número": 1, "list": [1, None]}


def returns_object() -> object:
    return {1, 2}.__class__


async def is_async(text: str) -> str:
    return text.upper()


def returns_awaitable() -> Any:
    return is_async("late")


def raises() -> None:
    raise ValueError("no such column")


def raises_ours() -> None:
    raise ToolError("The table is locked.", "Close it first.")


def exits() -> None:
    raise SystemExit(3)


def stops_iterating() -> None:
    next(iter(()))


TOOLS = [add, returns_none, returns_mapping, returns_object, is_async, returns_awaitable, raises, raises_ours, exits, stops_iterating]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("returns_none"), ("ok", "")),
        (call("returns_mapping"), ("ok", '{"número": 1, "list": [1, null]}')),
        (call("returns_object"), ("ok", "<class 'set'>")),
        (call("is_async", arguments='{"text": "hi"}'), ("ok", "HI")),
        (call("returns_awaitable"), ("ok", "LATE")),
        (call("raises"), ("error", "ValueError: no such column")),
        (call("raises_ours"), ("error", "The table is locked.\nClose it first.")),
        (call("exits"), ("error", "SystemExit: 3")),
        (call("stops_iterating"), ("error", "RuntimeError: StopIteration: ")),
    ],
)
def test_whatever_a_tool_does_becomes_a_result(make: Make, made: ToolCall, expected: tuple[str, str]) -> None:
    agent = make([made], "done", tools=TOOLS)
    assert agent.ask("go").text == "done"
    assert results(agent) == [expected]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (call("ad"), "There is no tool 'ad'. Available: add, compact_context, memory_get, "),
        (call("add", arguments='{"a": 1'), "The arguments are not a JSON object. add takes {"),
        (call("add", arguments="[1]"), "The arguments are not a JSON object. add takes {"),
        (call("add", arguments='{"b": 1}'), "The argument 'a' is missing. add takes {"),
        (call("add", arguments='{"a": 1, "c": 2}'), "There is no argument 'c'. add takes {"),
    ],
)
def test_a_wrong_call_is_answered_with_what_would_be_right(make: Make, made: ToolCall, said: str) -> None:
    agent = make([made], "done", tools=[add])
    agent.ask("go")
    ((status, text),) = results(agent)
    assert status == "error" and text.startswith(said)
    assert all_valid(agent)


def test_two_tools_of_one_name_are_refused(make: Make) -> None:
    with pytest.raises(ConfigError, match="two tools named 'add'"):
        make("x", tools=[add, add])


def test_an_empty_message_is_refused_before_anything_happens(make: Make) -> None:
    agent = make("x")
    for form in (agent.ask, agent.follow):
        with pytest.raises(ConfigError, match="empty"):
            form("  \n")
    assert agent.messages == () and agent.events == ()


# Limits


def test_the_limit_on_steps_ends_the_turn_and_leaves_a_valid_list(make: Make) -> None:
    agent = make(*([[call("add", f"c{at}", '{"a": 1}')] for at in range(9)]), tools=[add], max_steps=3)
    with pytest.raises(BudgetError, match="limit of 3 steps"):
        agent.ask("go on for ever")
    assert len(chats(agent)) == 3 and all_valid(agent)
    assert events(agent, TurnFailed)[0].error.startswith("The turn reached")


def test_the_limit_on_cost_holds_over_turns_and_after_a_resume(make: Make) -> None:
    dear = Message.assistant("dear", usage=Usage(10, 5, cost=0.6))
    agent = make(dear, dear, dear, max_cost=1.0, session="s")
    agent.ask("one")
    agent.ask("two")
    with pytest.raises(BudgetError, match=r"\$1.2000 and its limit is \$1.0000"):
        agent.ask("three")
    assert agent.status().cost == 1.2
    resumed = make(dear, max_cost=1.0, session="s")
    with pytest.raises(BudgetError):
        resumed.ask("four")


@pytest.mark.parametrize(
    "settings", [{"max_steps": 0}, {"max_steps": "3"}, {"max_cost": -1}, {"max_cost": float("nan")}]
)
def test_a_wrong_limit_is_refused(make: Make, settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        make("x", **settings)


# Replies that are none


def test_a_blank_reply_is_logged_said_and_never_sent_back(make: Make) -> None:
    agent = make("  ", "I am here.", session="s")
    assert agent.ask("hello?").text.strip() == ""
    assert [event.about for event in events(agent, Warned)] == ["blank"]
    agent.close()
    resumed = make("I am here.", session="s")
    resumed.ask("hello?")
    assert [message.role for message in resumed.messages] == ["user", "assistant", "user", "assistant"]
    assert [message.role for message in talk_of(chats(resumed)[0])] == ["user", "user"]


def test_r029_a_reply_that_was_cut_at_its_limit_is_an_answer_and_starts_no_compaction(make: Make) -> None:
    cut = Message.assistant("a long ans", finish="length", usage=Usage(12_000, 512))
    agent = make(cut)
    assert agent.ask("tell me all").text == "a long ans"
    assert len(chats(agent)) == 1 and chats(agent, "summary") == []


def test_r027_an_input_that_the_server_cut_is_warned_of(make: Make) -> None:
    agent = make(Message.assistant("hm", usage=Usage(4_098, 2)), window=32_000)
    agent.ask("x" * 64_000)
    (warned,) = events(agent, Warned)
    assert warned.about == "truncated" and "4098" in warned.text


def test_r030_without_credit_nothing_is_tried_again_and_nothing_compacted(make: Make) -> None:
    agent = make(
        QuotaError("You exceeded your current quota.", "Add credit."), compaction=CompactionConfig(trigger_messages=50)
    )
    with pytest.raises(QuotaError, match="quota"):
        agent.ask("hello")
    assert len(agent.model.requests) == 1  # type: ignore[attr-defined]


def test_what_was_said_before_an_error_stays_and_the_next_turn_works(make: Make) -> None:
    agent = make(Broken("It is a pro", ModelError("The server broke off.")), "It works.")
    with pytest.raises(ModelError, match="broke off"):
        agent.ask("what is it?")
    assert agent.messages[-1].text == "It is a pro" and agent.messages[-1].finish == "interrupted"
    assert events(agent, TurnFailed)[0].text == "It is a pro"
    assert agent.ask("go on").text == "It works."
    assert all_valid(agent)


def test_r098_a_call_whose_stream_did_not_finish_is_never_stored_run_or_answered(make: Make) -> None:
    ran = []

    def read_file_of(path: str) -> str:
        ran.append(path)
        return ""

    half = ToolCall("c1", "read_file_of", '{"pa')
    agent = make(Broken("Let me look.", ModelError("reset by peer"), call=half), "ok", tools=[read_file_of])
    with pytest.raises(ModelError):
        agent.ask("read it")
    assert ran == [] and not any(message.calls or message.role == "tool" for message in agent.messages)
    assert "read_file_of" not in str(log_records(agent, "message"))
    agent.ask("again")
    assert all_valid(agent)


# What is sent


class Alternating(ScriptedModel):
    """A scripted model that takes only alternating roles."""

    @property
    def limits(self) -> ModelLimits:
        return replace(super().limits, alternates=True)


def test_r005_where_roles_must_alternate_summary_and_request_are_one_visibly_divided_turn(make: Make) -> None:
    model = Alternating(chat=["A1", "A2", "A3"], summary=["a short summary"])
    agent = make(model=model, compaction=CompactionConfig(trigger_messages=5, keep_messages=1))
    for text in ("U1 " * 300, "U2 " * 300, "U3: my own text"):
        agent.ask(text)
    sent = talk_of(chats(agent)[-1])
    assert [message.role for message in sent] == ["user"]
    before, own = sent[0].text.rsplit(DIVIDER, 1)
    assert "a short summary" in before and own == "U3: my own text"


def test_r036_special_tokens_are_ordinary_text_wherever_they_stand(make: Make) -> None:
    odd = "<|endoftext|> and <|im_start|>"

    def look(text: str) -> str:
        return odd

    look.__doc__ = odd
    agent = make([call("look", arguments='{"text": "x"}')], "done", tools=[look], system_prompt=odd)
    assert agent.ask(odd).text == "done"
    assert agent.status().tokens > 0 and odd in chats(agent)[0].messages[0].text


# One turn at a time


def test_a_second_turn_hears_that_one_is_running(make: Make) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        assert may_end.wait(10)
        return "slept"

    agent = make([call("slow")], "done", tools=[slow])
    turn = threading.Thread(target=agent.ask, args=("go",))
    turn.start()
    try:
        assert began.wait(10)
        for act in (lambda: agent.ask("and?"), agent.compact, agent.reset, agent.close):
            with pytest.raises(SessionBusyError, match="in the middle of a turn"):
                act()
    finally:
        may_end.set()
        turn.join()
    assert [message.text for message in agent.messages][-1] == "done"


def test_a_tool_that_asks_its_own_agent_is_told_so(make: Make) -> None:
    asked: list[Any] = []

    def ask_again() -> str:
        return asked[0].ask("from inside").text  # type: ignore[no-any-return]

    async def ask_in_the_loop() -> str:
        return asked[0].ask("from inside").text  # type: ignore[no-any-return]

    agent = make([call("ask_again"), call("ask_in_the_loop", "c2")], "done", tools=[ask_again, ask_in_the_loop])
    asked.append(agent)
    assert agent.ask("go").text == "done"
    (first, second) = results(agent)
    assert first[0] == "error" and "in the middle of a turn" in first[1]
    assert second[0] == "error" and "Use the async form" in second[1]


# Hooks


def test_hooks_get_every_event_and_one_that_fails_harms_nothing(make: Make) -> None:
    seen: list[str] = []

    def fails(event: object) -> None:
        if isinstance(event, StepFinished):
            raise RuntimeError("hook broken")

    agent = make("fine", hooks=[lambda event: seen.append(event.kind), fails])
    assert agent.ask("go").text == "fine"
    assert seen == ["turn_started", "text_piece", "step_finished", "turn_finished"]
    (warned,) = events(agent, Warned)
    assert warned.text == "Hook 'fails' failed: RuntimeError: hook broken"


def test_a_dry_run_shows_the_request_and_the_plan_and_does_nothing(make: Make) -> None:
    agent = make("answer", tools=[add])
    agent.ask("one")
    request, planned = agent.dry_run("two")
    assert [message.text for message in talk_of(request)] == ["one", "answer", "two"]
    assert len(planned.view.log) == 3 and not planned.plan.changes
    assert len(agent.messages) == 2 and len(chats(agent)) == 1


@pytest.mark.parametrize(
    ("annotation", "value", "is_taken"),
    [(int, 3, True), (int, "3", False), (int, True, False), (float, 3, True), (str, 3, False), (list, [1], True)],
)
def test_arguments_of_another_type_do_not_reach_the_tool(annotation: type, value: object, is_taken: bool) -> None:
    import asyncio
    import json

    from harness_nb.agent.calls import run_call
    from harness_nb.agent.permissions import Permissions
    from harness_nb.core.messages import ToolCall
    from harness_nb.core.tool import Tool

    def take(given: object) -> str:
        """Takes something."""
        return "taken"

    take.__annotations__["given"] = annotation
    outcome = asyncio.run(
        run_call(ToolCall("c", "take", json.dumps({"given": value})), {"take": Tool.of(take)}, Permissions())
    )
    assert (outcome.text == "taken") is is_taken
    assert is_taken or f"given={value!r} is no" in outcome.text
