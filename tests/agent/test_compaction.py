from __future__ import annotations

import copy
import os
import threading
from typing import Any

import pytest

from harness_nb.agent.parts import FROM_PRESET
from harness_nb.core import edits
from harness_nb.core.config import CompactionConfig, TruncateArgsConfig
from harness_nb.core.events import CompactionFinished, CompactionStarted, TurnFinished
from harness_nb.core.messages import ToolCall
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, HarnessError, SessionBusyError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.presets import Preset
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, log_records, talk_of

SHORT = CompactionConfig(trigger_messages=6, keep_messages=2, flush_before_compact=False)


def talking(make: Make, turns: int, *, summary: Any = None, chars: int = 300, **options: Any) -> Any:
    """An agent after some turns with long texts."""
    given = ["a short summary"] * 20 if summary is None else summary
    model = ScriptedModel(chat=[f"a{at} {'y' * 300}" for at in range(20)], summary=given)
    agent = make(model=model, **({"compaction": SHORT} | options))
    for turn in range(turns):
        agent.ask(f"q{turn} {'x' * chars}")
    return agent


def test_a_long_conversation_is_compacted_before_a_request_and_the_turn_goes_on(make: Make) -> None:
    agent = talking(make, 4)
    (started,), (finished,) = events(agent, CompactionStarted), events(agent, CompactionFinished)
    assert (started.policy, started.hook, finished.outcome) == ("harness", "request", "completed")
    assert finished.tokens_after < finished.tokens_before == started.tokens
    assert (finished.messages_before, finished.messages_after, finished.summarised) == (7, 3, 5)
    assert [message.text[:2] for message in talk_of(chats(agent)[-1])][1:] == ["a2", "q3"]
    assert "a short summary" in talk_of(chats(agent)[-1])[0].text
    assert len(agent.messages) == 8 and all_valid(agent)


def test_r106_every_attempt_leaves_its_events_in_memory_and_in_the_log(make: Make) -> None:
    agent = talking(make, 5, summary=["", "", "", ""])
    outcomes = [event.outcome for event in events(agent, CompactionFinished)]
    assert outcomes == ["failed", "failed"] and len(events(agent, CompactionStarted)) == 2
    stored = [record["event"] for record in log_records(agent, "event")]
    assert stored.count("compaction_started") == 2 and stored.count("compaction_finished") == 2
    assert "blank" in events(agent, CompactionFinished)[0].reason


def test_r106_what_was_skipped_or_failed_leaves_a_beginning_and_an_end_too(make: Make) -> None:
    def looked(agent: Any) -> list[tuple[str, str]]:
        found = (event for event in agent.events if isinstance(event, CompactionStarted | CompactionFinished))
        return [(event.kind.removeprefix("compaction_"), event.hook) for event in found]

    idle = make("a", compaction=SHORT)
    idle.ask("q")
    assert idle.compact().events[0].outcome == "skipped" and looked(idle) == [
        ("started", "manual"),
        ("finished", "manual"),
    ]
    resting = talking(make, 3, summary=[""] * 9)
    for turn in range(6):
        resting.ask(f"{turn}")
    found = looked(resting)
    assert found and found[0::2] == [("started", "request")] * (len(found) // 2)
    assert found[1::2] == [("finished", "request")] * (len(found) // 2)
    assert {event.outcome for event in events(resting, CompactionFinished)} == {"failed", "skipped"}
    for event in events(resting, CompactionFinished):
        assert event.reason and event.tokens_before > 0 and event.messages_before > 0
    assert len(log_records(resting, "event")) == len(resting.events)


def test_r013_why_compaction_rests_stands_in_status_pressure_and_events_until_it_does_not(make: Make) -> None:
    agent = talking(make, 3, summary=[""] * 8 + ["a short summary"] * 9)
    assert agent.status().compaction == "" == agent.pressure().rest
    for turn in range(6):
        agent.ask(f"{turn}")
    why = agent.status().compaction
    assert (
        why.startswith("rests until the input has grown by 6,400 tokens: the summary failed")
        and why == agent.pressure().rest
    )
    assert why in [event.reason for event in events(agent, CompactionFinished)] and why in str(agent.status())
    assert agent.compact().events[-1].outcome in ("completed", "failed")
    while agent.compact().events[-1].outcome == "failed":
        pass
    assert agent.status().compaction == ""


@pytest.mark.parametrize("summary", [[TimeoutError("late")], [""], ["  \n"], ["word " * 3_000]])
def test_r021_a_summary_that_is_no_use_leaves_the_list_and_the_users_turn_goes_on(make: Make, summary: Any) -> None:
    agent = talking(make, 3, summary=summary)
    held = agent.view().input[:]
    agent.ask("q3 " + "x" * 300)
    assert agent.last_reply.text.startswith("a3")
    assert agent.view().input[:6] == held
    assert [event.outcome for event in events(agent, CompactionFinished)] == ["failed"]


def test_r021_when_the_offload_fails_nothing_leaves(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = talking(make, 3)
    held = agent.view().input[:]

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    agent._opened.session.set_pins((Pin("q0"),))  # what is pending then is what the offload has to write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        report = agent.compact()
    assert str(report).startswith("failed: nothing was replaced") and "No space left" in str(report)
    assert agent.view().input[:] == held and chats(agent, "summary") == []


def test_r018_the_latest_request_survives_a_long_tool_loop_word_for_word(make: Make) -> None:
    def look(part: int) -> str:
        return f"row {part} " + "z" * 300

    calls = [[ToolCall(f"c{at}", "look", f'{{"part": {at}}}')] for at in range(12)]
    model = ScriptedModel(chat=[*calls, "done"], summary=["a short summary"] * 9)
    agent = make(model=model, tools=[look], compaction=CompactionConfig(trigger_messages=10, keep_messages=6))
    agent.ask("the latest request, to the letter")
    assert len(events(agent, CompactionFinished)) >= 1
    for request in chats(agent):
        assert "the latest request, to the letter" in [message.text for message in request.messages]
    assert all_valid(agent)


def test_r022_a_second_compaction_hears_that_one_is_running(make: Make) -> None:
    began, may_end = threading.Event(), threading.Event()

    async def slow(_: object) -> str:
        import asyncio

        began.set()
        await asyncio.to_thread(may_end.wait, 10)
        return "a short summary"

    agent = talking(make, 3, summary=[slow])
    turn = threading.Thread(target=agent.ask, args=("q3 " + "x" * 300,))
    turn.start()
    try:
        assert began.wait(10)
        with pytest.raises(SessionBusyError, match="in the middle of a turn or a compaction"):
            agent.compact()
    finally:
        may_end.set()
        turn.join()
    assert len(chats(agent, "summary")) == 1
    assert str(agent.compact()).startswith(("completed", "skipped", "failed"))


def test_r023_messages_and_plans_that_a_notebook_holds_are_never_changed(make: Make) -> None:
    def write(content: str) -> str:
        return "written"

    calls = [[ToolCall(f"c{at}", "write", f'{{"content": "{"x" * 3_000}"}}')] for at in range(4)]
    pre_pass = TruncateArgsConfig(trigger_messages=3, keep_messages=2, max_arg_length=100)
    settings = CompactionConfig(trigger_messages=12, keep_messages=2, truncate_args=pre_pass)
    model = ScriptedModel(chat=[answer for call in calls for answer in (call, "ok")], summary=["short"] * 5)
    agent = make(model=model, tools=[write], compaction=settings)
    agent.ask("write")
    held, view, plan = agent.messages, agent.view(), agent.plan()
    before = copy.deepcopy((held, view.log[:], view.input[:], plan.plan.input))
    for _ in range(3):
        agent.ask("write")
    assert {event.detail for event in events(agent, CompactionFinished)} >= {"truncated"}
    assert (held, view.log[:], view.input[:], plan.plan.input) == before


def test_r104_a_users_own_settings_replace_the_presets_and_one_trigger_means_one_summary(make: Make) -> None:
    agent = talking(make, 4, preset="eney")
    assert agent.status().policy == "harness" and agent.status().preset == "eney"
    assert len(chats(agent, "summary")) == 1


def test_compaction_none_switches_it_off(make: Make) -> None:
    agent = talking(make, 8, compaction=None)
    assert len(agent.view().input) == 16 and agent.status().policy == ""
    assert str(agent.compact()) == "nothing to do" and "compaction is off" in str(agent.plan())


def test_a_plan_shows_what_would_be_done_and_does_nothing(make: Make) -> None:
    agent = talking(make, 3, chars=3_000)
    planned = agent.plan()
    before, after = planned.tokens
    assert planned.plan.changes and after < before
    assert chats(agent, "summary") == [] and len(agent.view().input) == 6


def test_compact_acts_whatever_the_triggers_say_and_reports(make: Make) -> None:
    agent = talking(make, 3, compaction=CompactionConfig(keep_messages=2))
    report = agent.compact()
    assert str(report).startswith("completed: asked for") and report.events[0].hook == "manual"
    assert len(agent.view().input) == 3


class Raising(CompactionPolicy):
    """A policy with a bug."""

    name = "buggy"

    def plan(self, view: View) -> Plan:
        raise ZeroDivisionError("division by zero")


def test_a_policy_with_a_bug_costs_no_answer_and_is_visible(make: Make) -> None:
    agent = talking(make, 1, preset=Preset(name="mine", about=".", policy=Raising()), compaction=FROM_PRESET)
    assert agent.last_reply.text.startswith("a0") and len(events(agent, TurnFinished)) == 1
    (failed,) = events(agent, CompactionFinished)
    assert failed.outcome == "failed" and failed.reason.startswith(
        "policy 'buggy' failed: ZeroDivisionError: division by zero (line "
    )
    assert failed.reason.endswith(", in plan)")


class Stopping(CompactionPolicy):
    """A policy that lets no turn go on."""

    def plan(self, view: View) -> Plan:
        return view.unchanged("enough", error=ConfigError("This session is closed.", "Begin another."))


def test_a_policy_may_end_the_turn_with_an_error_of_its_own(make: Make) -> None:
    agent = make("never", preset=Preset(name="mine", about=".", policy=Stopping()))
    with pytest.raises(HarnessError, match="This session is closed"):
        agent.ask("hello")
    assert chats(agent) == [] and all_valid(agent)


class OtherModel(CompactionPolicy):
    """Asks a model of another name, several times, with a time limit."""

    def plan(self, view: View) -> Plan:
        ask = Ask(purpose="audit", messages=view.input.messages[:1], attempts=3, blank_fails=True)
        reply = view.reply(ask)
        if reply.failure is not None:
            return view.unchanged(f"{reply.failure.kind}: {reply.failure.detail}", outcome="failed")
        old = view.input[:2]
        return view.becomes((edits.summary(reply, of=old), *view.input[2:]), "audited")


def test_identical_retries_are_the_drivers(make: Make) -> None:
    model = ScriptedModel(
        chat=[f"a{at} {'y' * 300}" for at in range(5)], purposes={"audit": ["", RuntimeError("x"), "fine"]}
    )
    agent = make(model=model, preset=Preset(name="mine", about=".", policy=OtherModel()))
    agent.ask("q0 " + "x" * 300)
    assert len(chats(agent, "audit")) == 3
    (finished,) = events(agent, CompactionFinished)
    assert finished.model_calls == 1


def test_the_course_shows_each_request_and_each_compaction(make: Make) -> None:
    agent = talking(make, 4)
    marks = [point[-1] for point in agent.course()]
    assert marks.count("compacted") == 1 and len(marks) == 4 + 2
    assert all(window == 128_000 for *_, window, _ in agent.course())


class ForOneReply(CompactionPolicy):
    """Puts a note in the place of what is old, until a reply comes or not."""

    def plan(self, view: View) -> Plan:
        if len(view.input) < 5:
            return view.unchanged("short")
        return view.becomes([edits.note("left out", of=view.input[:4]), *view.input[4:]], "tried", lasts="reply")


@pytest.mark.parametrize("failure", [HarnessError("no"), ConnectionError("gone"), KeyboardInterrupt()])
def test_a_list_that_lasts_with_a_reply_is_undone_on_disk_too_however_the_request_fails(
    make: Make, failure: BaseException
) -> None:
    preset = Preset(name="mine", about="Mine.", policy=ForOneReply())
    agent = make("a0 " * 50, "a1 " * 50, failure, preset=preset, session="s")
    agent.ask("q0 " * 50)
    agent.ask("q1 " * 50)
    with pytest.raises((HarnessError, KeyboardInterrupt)):
        agent.ask("q2")
    assert [message.text[:2] for message in (item.message for item in agent.view().input)] == [
        "q0",
        "a0",
        "q1",
        "a1",
        "q2",
    ]
    agent.close()
    again = make("x", preset=preset, session="s")
    assert [item.message.text[:2] for item in again.view().input] == ["q0", "a0", "q1", "a1", "q2"]
