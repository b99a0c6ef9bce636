from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

from harness_nb.core.clock import Clock
from harness_nb.core.config import CompactionConfig, MemoryConfig
from harness_nb.core.events import CompactionFinished, FactsWritten, FlushFailed
from harness_nb.errors import ModelError
from harness_nb.model.base import ModelRequest
from harness_nb.model.scripted import Reply, ScriptedModel
from tests.agent.conftest import Make
from tests.agent.reading import chats, events

ALWAYS = MemoryConfig(flush="always")
SHORT = CompactionConfig(trigger_messages=6, keep_messages=2)


def flushing(make: Make, *flush: Reply, turns: int = 9, **options: Any) -> Any:
    model = ScriptedModel(chat=[f"a{at} {'y' * 300}" for at in range(turns)], flush=list(flush), summary=["s"] * turns)
    return make(model=model, **({"memory": ALWAYS} | options))


def facts(agent: Any) -> list[str]:
    return [entry.text for entry in agent.workspace.daily_log.entries()]


def test_facts_are_in_todays_log_when_a_quick_turn_comes_back(make: Make) -> None:
    agent = flushing(make, "- the boat is called Ann [#0]")
    reply = agent.ask("My boat is called Ann.")
    assert facts(agent) == ["the boat is called Ann"]
    (written,) = [event for event in reply.events if isinstance(event, FactsWritten)]
    assert written.facts == ("the boat is called Ann",) and written.path == "memory/2026-04-12.md"


def test_a_slow_flush_does_not_hold_up_the_answer_and_is_waited_for_by_the_memory(make: Make) -> None:
    may_end = threading.Event()

    async def slow(_: ModelRequest) -> str:
        await asyncio.to_thread(may_end.wait, 10)
        return "- the boat is called Ann"

    agent = flushing(make, slow)
    reply = agent.ask("My boat is called Ann.")
    assert facts(agent) == [] and not any(isinstance(event, FactsWritten) for event in reply.events)
    may_end.set()
    assert "daily" in [hit.kind for hit in agent.memory.search("boat")]
    assert facts(agent) == ["the boat is called Ann"]
    assert len(events(agent, FactsWritten)) == 1


def test_each_message_is_read_once(make: Make) -> None:
    agent = flushing(make, "- one fact here", "- two facts here", "- three facts here")
    for text in ("first text", "second text", "third text"):
        agent.ask(text)
    asked = [request.messages[-1].text for request in chats(agent, "flush")]
    assert [sum(text in one for one in asked) for text in ("first text", "second text", "third text")] == [1, 1, 1]


def test_r049_the_mark_of_what_was_read_outlives_the_kernel(make: Make) -> None:
    first = flushing(make, "- one fact here", session="s")
    first.ask("first text")
    first.close()
    agent = flushing(make, "- two facts here", session="s")
    agent.ask("second text")
    (request,) = chats(agent, "flush")
    assert "second text" in request.messages[-1].text and "#2" in request.messages[-1].text
    assert "first text" not in request.messages[-1].text


def test_r051_a_flush_that_fails_costs_no_answer_and_is_made_up_later(make: Make) -> None:
    agent = flushing(make, *[ModelError("500")] * 4, "- all of it at last")
    for turn in range(5):
        assert agent.ask(f"text {turn}").text.startswith(f"a{turn}")
    assert [event.reason for event in events(agent, FlushFailed)] == ["500"] * 4
    last = chats(agent, "flush")[-1].messages[-1].text
    assert all(f"text {turn}" in last for turn in range(5))
    assert facts(agent) == ["all of it at last"]


def test_facts_are_taken_before_messages_leave(make: Make) -> None:
    agent = flushing(make, "- said before it left", compaction=SHORT, memory=MemoryConfig(flush="never"))
    for turn in range(4):
        agent.ask(f"text {turn} {'x' * 300}")
    assert [event.outcome for event in events(agent, CompactionFinished)] == ["completed"]
    kinds = [request.purpose for request in agent.model.requests]
    assert kinds.index("flush") < kinds.index("summary")
    assert facts(agent) == ["said before it left"]


def test_r021_r051_a_flush_that_fails_does_not_stop_a_compaction(make: Make) -> None:
    agent = flushing(make, ModelError("500"), compaction=SHORT, memory=MemoryConfig(flush="never"))
    for turn in range(4):
        agent.ask(f"text {turn} {'x' * 300}")
    assert [event.outcome for event in events(agent, CompactionFinished)] == ["completed"]
    assert [event.reason for event in events(agent, FlushFailed)] == ["500"]


def test_what_left_without_its_facts_is_read_by_the_next_flush(make: Make) -> None:
    agent = flushing(make, ModelError("500"), "- made up for it", compaction=SHORT, memory=MemoryConfig(flush="never"))
    for turn in range(4):
        agent.ask(f"text {turn} {'x' * 300}")
    for turn in range(4, 7):
        agent.ask(f"text {turn} {'x' * 300}")
    assert "text 0" in chats(agent, "flush")[1].messages[-1].text and facts(agent) == ["made up for it"]


def test_flushing_can_be_switched_off_altogether(make: Make) -> None:
    off = CompactionConfig(trigger_messages=6, keep_messages=2, flush_before_compact=False)
    agent = flushing(make, compaction=off, memory=MemoryConfig(flush="never"))
    for turn in range(6):
        agent.ask(f"text {turn} {'x' * 300}")
    assert events(agent, CompactionFinished) and chats(agent, "flush") == []


def test_a_flush_under_way_is_ended_before_another_agent_takes_the_session(make: Make) -> None:
    may_end = threading.Event()

    async def slow(_: ModelRequest) -> str:
        await asyncio.to_thread(may_end.wait, 10)
        return "- the boat is called Ann"

    first = flushing(make, slow, session="s")
    first.ask("My boat is called Ann.")
    threading.Timer(0.05, may_end.set).start()
    second = flushing(make, "- it has two masts", session="s")
    assert facts(second) == ["the boat is called Ann"]
    second.ask("It has two masts.")
    (request,) = chats(second, "flush")
    assert "My boat is called Ann" not in request.messages[-1].text


def test_a_flush_by_hand_reads_what_is_new_and_then_nothing(make: Make) -> None:
    agent = flushing(make, ModelError("down", "try again"), "- the boat is called Ann [#0]")
    agent.ask("My boat is called Ann.")
    report = agent.flush()
    assert report.facts == ("the boat is called Ann",) == tuple(facts(agent))
    assert agent.flush().events == ()
    assert report.df["kind"].tolist() == ["facts_written"] and "1 fact written" in str(report)


def test_throttled_flushes_keep_their_distance_and_the_next_takes_all_along(make: Make, clock: Clock) -> None:
    moment = clock.now()
    hand = Clock(read=lambda: moment)
    throttled = MemoryConfig(flush="throttled", flush_gap=timedelta(minutes=5))
    agent = flushing(make, "- one fact here", "- two facts here", memory=throttled, clock=hand)
    for turn, minutes in enumerate((0, 1, 3, 2)):
        moment += timedelta(minutes=minutes)
        agent.ask(f"text {turn}")
    assert [request.messages[-1].text.count("text ") for request in chats(agent, "flush")] == [1, 3]
    assert "What is worth keeping is noted by itself" in chats(agent)[0].messages[0].text


def test_what_a_throttled_flush_left_is_read_when_the_session_is_closed(make: Make) -> None:
    throttled = MemoryConfig(flush="throttled")
    agent = flushing(make, "- one fact here", "- two facts here", memory=throttled)
    agent.ask("text 0")
    agent.ask("text 1")
    assert facts(agent) == ["one fact here"]
    agent.close()
    assert facts(agent) == ["one fact here", "two facts here"]


def bad(text: str) -> Any:
    """Refuses every request that holds a text."""

    def answer(request: ModelRequest) -> Any:
        said = request.messages[-1].text
        return ModelError("can't be read") if text in said else f"- noted {said.rsplit('text', 1)[1].split()[0]} [#0]"

    return answer


def test_messages_that_fail_again_and_again_are_passed_over_with_the_reason(make: Make) -> None:
    agent = flushing(make, *[bad("poison")] * 9)
    agent.ask("text 0 poison")
    for turn in range(1, 6):
        agent.ask(f"text {turn}")
    reasons = [event.reason for event in events(agent, FlushFailed)]
    assert reasons == ["can't be read"] * 3 + ["messages 0 to 1 were passed over after 3 failures: can't be read"]
    asked = chats(agent, "flush")
    assert "poison" in asked[2].messages[-1].text and not any("poison" in one.messages[-1].text for one in asked[3:])
    assert all(f"text {turn}" in "".join(one.messages[-1].text for one in asked[3:]) for turn in range(1, 6))


def test_nothing_is_passed_over_while_everything_fails(make: Make) -> None:
    agent = flushing(make, *[ModelError("500")] * 8, "- all of it at last")
    for turn in range(9):
        agent.ask(f"text {turn}")
    assert [event.reason for event in events(agent, FlushFailed)] == ["500"] * 8
    assert all(f"text {turn}" in chats(agent, "flush")[-1].messages[-1].text for turn in range(9))
    assert facts(agent) == ["all of it at last"]
