"""What the model itself hears and may do about its context."""

from __future__ import annotations

from typing import Any

from harness_nb.core.config import CompactionConfig
from harness_nb.core.events import CompactionFinished, CompactionStarted, Warned
from harness_nb.core.messages import Message, ToolCall
from harness_nb.model.scripted import ScriptedModel
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, talk_of

NEAR = "A note of the harness"


def settings(**given: Any) -> CompactionConfig:
    fixed = {"trigger_messages": 0, "trigger_tokens": 3_000, "keep_messages": 2, "flush_before_compact": False}
    return CompactionConfig(**(fixed | given))


def talking(make: Make, turns: int, **given: Any) -> Any:
    model = ScriptedModel(chat=[f"a{at} {'y' * 400}" for at in range(40)], summary=["a short summary"] * 9)
    agent = make(model=model, compaction=settings(**given))
    for turn in range(turns):
        agent.ask(f"q{turn} {'x' * 400}")
    return agent


def warned(agent: Any) -> list[int]:
    """Numbers of the requests that told the model of a compaction to come."""
    return [at for at, request in enumerate(chats(agent)) if any(NEAR in message.text for message in request.messages)]


def test_the_model_is_told_once_before_a_compaction_and_the_note_lasts_for_one_request(make: Make) -> None:
    agent = talking(make, 24)
    compactions = [event for event in events(agent, CompactionFinished) if event.outcome == "completed"]
    assert len(compactions) == 2 and len(warned(agent)) == 2  # once for each approach
    request = chats(agent)[warned(agent)[0]]
    assert NEAR in talk_of(request)[-1].text and talk_of(request)[-2].text.startswith("q")
    assert (
        "with memory_save or with pin_instruction" in talk_of(request)[-1].text
        and "compact_context" in talk_of(request)[-1].text
    )
    assert not any(NEAR in message.text for message in agent.messages) and all_valid(agent)
    said = [event.text for event in events(agent, Warned) if event.about == "compaction"]
    assert len(said) == 2 and said[0].startswith("The model is told that a compaction is near: ")
    assert len(events(agent, CompactionStarted)) == 2


def test_the_note_comes_at_the_share_that_is_set(make: Make) -> None:
    early, late = talking(make, 8, warn_at=0.5), talking(make, 8, warn_at=0.99)
    assert warned(early) and warned(early)[0] < 5
    assert warned(late) == [] or warned(late)[0] > warned(early)[0]


def test_switched_off_the_model_is_not_told(make: Make) -> None:
    agent = talking(make, 24, warn_at=0)
    assert warned(agent) == [] and len(events(agent, CompactionFinished)) == 2


def compacting(make: Make, **given: Any) -> Any:
    call = ToolCall("1", "compact_context", '{"focus": "the open points"}')
    answers = [*(f"a{at} {'y' * 400}" for at in range(4)), call, "done", "more"]
    agent = make(model=ScriptedModel(chat=answers, summary=["a short summary"] * 3), compaction=settings(**given))
    for turn in range(4):
        agent.ask(f"q{turn} {'x' * 400}")
    return agent


def test_the_model_asks_for_a_compaction_which_is_done_before_its_next_request(make: Make) -> None:
    agent = compacting(make)
    assert agent.ask("finish it").text == "done"
    (finished,) = events(agent, CompactionFinished)
    assert (finished.hook, finished.outcome) == ("manual", "completed")
    before, after = chats(agent)[-2:]
    assert len(after.messages) < len(before.messages) and all_valid(agent)
    assert [message.role for message in talk_of(after)][-3:] == ["user", "assistant", "tool"]
    assert talk_of(after)[-3].text == "finish it"
    (summary,) = chats(agent, "summary")
    assert "<wishes>\nthe open points\n</wishes>" in summary.messages[0].text
    agent.ask("go on")
    assert len(events(agent, CompactionFinished)) == 1  # asked for once, done once


def test_switched_off_or_without_compaction_there_is_no_such_tool(make: Make) -> None:
    agent = compacting(make, compact_tool=False)
    agent.ask("finish it")
    assert "compact_context" not in agent.tools and events(agent, CompactionFinished) == []
    assert "compact_context" not in make("a", compaction=None).tools
    assert "compact_context" not in make("a", preset="eney").tools


def test_a_wish_is_forgotten_with_the_session_it_was_made_in(make: Make) -> None:
    agent = talking(make, 3)
    agent._parts.context_tools.tools()[1].function()
    agent.reset()
    agent.ask("hello")
    assert events(agent, CompactionFinished) == []


def test_the_plan_of_the_host_comes_back_after_a_summary(make: Make) -> None:
    agent = talking(make, 3)
    agent.host["plan"] = "1. measure 2. report"
    assert not any("1. measure" in message.text for message in chats(agent)[-1].messages)
    agent.compact()
    agent.ask("and now")
    notes = [message for message in talk_of(chats(agent)[-1]) if "1. measure 2. report" in message.text]
    assert [(note.role, note.origin) for note in notes] == [("user", "harness")]
    off = talking(make, 3, restore_plan=False)
    off.host["plan"] = "1. measure 2. report"
    off.compact()
    off.ask("and now")
    assert not any("1. measure" in message.text for message in chats(off)[-1].messages)


def test_a_providers_own_compaction_goes_through_compaction_session_file_and_resume(make: Make) -> None:
    content = [{"type": "compaction", "encrypted_content": "gAAA=="}, {"type": "text", "text": "done"}]
    native = Message.from_openai({"role": "assistant", "content": content})
    model = ScriptedModel(chat=[native, *(f"a{at} {'y' * 400}" for at in range(14))], summary=["short"] * 9)
    agent = make(model=model, compaction=settings(), session="s")
    for turn in range(14):
        agent.ask(f"q{turn} {'x' * 400}")
    assert len(events(agent, CompactionFinished)) >= 1
    agent.close()
    again = make("more", compaction=settings(), session="s")
    again.ask("go on")
    assert content in [message.to_openai()["content"] for message in chats(again)[-1].messages]
