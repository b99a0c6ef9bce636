from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.config import CompactionConfig
from harness_nb.core.events import CompactionFinished, CompactionStarted, Warned
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.rounds import problems
from harness_nb.errors import ContextOverflowError, ModelError
from harness_nb.model.scripted import Broken, ScriptedModel
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, talk_of


class ProviderError(Exception):
    """A provider's own exception, which reads as an overflow."""


def refused(input_tokens: int | None = None, window: int | None = None) -> ContextOverflowError:
    error = ContextOverflowError(
        "The input is too long for 'scripted'.", "Shorten it.", input_tokens=input_tokens, window=window
    )
    error.__cause__ = ProviderError("This model's maximum context length is 4096 tokens")
    return error


def talked(
    make: Make, *more: Any, turns: int = 6, chars: int = 400, summary: list[Any] | None = None, **options: Any
) -> Any:
    """An agent with some turns behind it."""
    model = ScriptedModel(
        chat=[*("a" * chars for _ in range(turns)), *more], summary=["a short summary"] if summary is None else summary
    )
    agent = make(model=model, **options)
    for turn in range(turns):
        agent.ask(f"q{turn} ".ljust(chars, "."))
    return agent


def test_r031_one_forced_compaction_and_one_retry_save_the_turn(make: Make) -> None:
    agent = talked(make, refused(), "made it", compaction=CompactionConfig(keep_messages=2))
    assert agent.ask("the latest question").text == "made it"
    first, retry = chats(agent)[-2:]
    assert len(retry.messages) < len(first.messages)
    assert talk_of(retry)[-1].text == "the latest question"
    (started,), (finished,) = events(agent, CompactionStarted), events(agent, CompactionFinished)
    assert started.hook == finished.hook == "overflow" and finished.outcome == "completed"
    assert [event.about for event in events(agent, Warned)] == ["overflow"]
    assert len(chats(agent, "summary")) == 1 and all_valid(agent)


def test_r031_a_second_overflow_ends_in_an_error_that_names_the_largest_parts(make: Make) -> None:
    agent = talked(make, refused(), refused(4_500, 4_096), "never", compaction=CompactionConfig(keep_messages=2))
    with pytest.raises(ContextOverflowError) as caught:
        agent.ask("the latest question " * 30)
    assert len(chats(agent)) == 8 and len(chats(agent, "summary")) == 1
    assert (caught.value.input_tokens, caught.value.window) == (4_500, 4_096)
    assert caught.value.largest[0][1] >= caught.value.largest[-1][1] > 0
    assert "user (message 12)" in str(caught.value) and "larger window" in caught.value.remedy
    assert isinstance(caught.value.__cause__, ContextOverflowError)
    assert isinstance(caught.value.__cause__.__cause__, ProviderError)


def test_r031_each_turn_has_its_own_recovery(make: Make) -> None:
    agent = talked(make, refused(), "one", refused(), "two", compaction=CompactionConfig(keep_messages=2))
    agent.model._scripts.pop("summary")  # the offline model writes the summaries
    assert agent.ask("first").text == "one"
    assert agent.ask("second " * 100).text == "two"


@pytest.mark.parametrize(
    "options",
    [
        {"compaction": None},
        {"compaction": CompactionConfig(trigger_messages=0, trigger_tokens=0)},
        {"preset": "eney"},
    ],
)
def test_r032_without_automatic_compaction_the_providers_own_exception_arrives_unchanged(
    make: Make, options: Any
) -> None:
    error = refused()
    agent = talked(make, error, **options)
    was = agent.view().input
    with pytest.raises(ProviderError) as caught:
        agent.ask("the latest question")
    assert caught.value is error.__cause__
    assert events(agent, CompactionStarted) == [] and agent.view().input[:12] == was[:]
    (warned,) = events(agent, Warned)
    assert warned.about == "overflow" and warned.text.endswith("its error is passed on.")
    assert ("compaction is off" in warned.text) is (agent.preset.policy is None)


def test_r033_the_forced_pass_ignores_triggers_and_the_estimate_is_scaled_from_then_on(make: Make) -> None:
    agent = talked(make, refused(10_000, 8_192), "made it", window=8_192)
    before = agent.view().tokens
    assert before < 0.3 * 8_192 and len(agent.messages) < 50
    assert agent.ask("the latest question").text == "made it"
    view = agent.view()
    assert view.scale > 3
    assert view.tokens > view.measure.total(view.input.messages) * 3


def test_r033_a_window_that_the_provider_names_holds_from_then_on(make: Make) -> None:
    agent = talked(make, refused(5_000, 4_096), "made it")
    agent.ask("the latest question")
    status = agent.status()
    assert (status.window, status.window_source) == (4_096, "server")
    assert agent.last_reply.window == 4_096


def test_r034_what_cannot_be_compacted_and_is_too_long_by_itself_is_named_and_no_summary_asked_for(make: Make) -> None:
    agent = talked(make, refused(), turns=3, window=8_000)
    with pytest.raises(ContextOverflowError) as caught:
        agent.ask("x" * 200_000)
    assert "user (message 6)" in str(caught.value) and "8,000" in str(caught.value)
    assert caught.value.largest[0][0] == "user (message 6)" and caught.value.largest[0][1] > 50_000
    assert chats(agent, "summary") == [] and len(chats(agent)) == 4


def test_r007_after_an_overflow_in_the_middle_of_an_answer_the_retry_ends_with_the_turn_to_be_answered(
    make: Make,
) -> None:
    agent = talked(make, Broken("As I was say", refused()), "made it", compaction=CompactionConfig(keep_messages=2))
    assert agent.ask("the latest question").text == "made it"
    retry = chats(agent)[-1]
    assert problems(retry.messages) == () and talk_of(retry)[-1].text == "the latest question"
    assert not any("As I was say" in message.text for message in agent.messages)


def test_what_came_of_an_answer_before_an_overflow_that_nothing_mends_is_kept(make: Make) -> None:
    agent = talked(make, Broken("As I was saying", refused()), compaction=None)
    with pytest.raises(ProviderError):
        agent.ask("the latest question")
    assert agent.messages[-1].text == "As I was saying" and agent.messages[-1].finish == "interrupted"
    assert all_valid(agent)


def test_r007_after_an_overflow_behind_a_tool_the_retry_ends_with_its_result(make: Make) -> None:
    def look() -> str:
        return "found"

    agent = talked(
        make, [ToolCall("c1", "look")], refused(), "made it", tools=[look], compaction=CompactionConfig(keep_messages=2)
    )
    assert agent.ask("look it up").text == "made it"
    assert talk_of(chats(agent)[-1])[-1].text == "found" and all_valid(agent)


def test_an_overflow_that_no_compaction_can_mend_keeps_the_reason(make: Make) -> None:
    settings = CompactionConfig(keep_messages=2, fallback="never")
    agent = talked(make, refused(), summary=[ModelError("The summariser is down.")], compaction=settings)
    was = agent.view().input
    with pytest.raises(ContextOverflowError, match="summary failed: The summariser is down"):
        agent.ask("the latest question")
    assert agent.view().input[:12] == was[:] and all_valid(agent)


def test_r033_a_result_that_is_not_answered_yet_goes_to_a_file_when_nothing_else_helps(make: Make) -> None:
    def look() -> str:
        return "found " + "z" * 40_000

    error = refused(12_000, 8_000)
    model = ScriptedModel(chat=[ToolCall("c1", "look"), error, "made it"])
    agent = make(model=model, tools=[look])
    assert agent.ask("look it up").text == "made it"
    (finished,) = events(agent, CompactionFinished)
    assert (finished.outcome, finished.detail) == ("completed", "evicted")
    path = next(item.meta["path"] for item in agent.view().input if item.how == "evicted")
    assert agent.workspace.resolve(str(path)).read_text(encoding="utf-8") == look()
    shown = talk_of(chats(agent)[-1])[-1].text
    assert "read_file(path=" in shown and len(shown) < 2_000 and all_valid(agent)


def test_r017_where_no_summary_can_be_written_a_note_that_says_so_saves_the_turn(make: Make) -> None:
    down = [ModelError("The summariser is down.")]
    agent = talked(make, refused(), "made it", summary=down, compaction=CompactionConfig(keep_messages=2))
    assert agent.ask("the latest question").text == "made it"
    (finished,) = events(agent, CompactionFinished)
    assert (finished.outcome, finished.detail) == ("completed", "elided")
    assert "no summary: The summariser is down." in finished.reason
    first = talk_of(chats(agent)[-1])[0].text
    assert "no summary stands for them" in first and "The summariser is down." in first


def test_a_silent_overflow_is_recovered_like_a_spoken_one(make: Make) -> None:
    silent = Message.assistant("", finish="model_context_window_exceeded")
    agent = talked(make, silent, "made it", compaction=CompactionConfig(keep_messages=2))
    assert agent.ask("the latest question").text == "made it"
    assert len(events(agent, CompactionFinished)) == 1


def test_a_message_too_long_to_send_goes_to_a_file_and_the_session_goes_on() -> None:
    from harness_nb import HarnessAgent

    with HarnessAgent("a", workspace="place/ws", window=3_000) as agent:
        agent.ask("My dog is called Rex.")
        with pytest.raises(ContextOverflowError, match="can't be compacted"):
            agent.ask("x " * 8_000)
        assert agent.ask("What is my dog called?").text
        assert agent.messages[2].text == "x " * 8_000  # the log keeps it as it was said
        session = agent.session
        warned = [event.text for event in agent.events if event.kind == "warned" and "went to" in event.text]
        assert len(warned) == 1
    with HarnessAgent("a", workspace="place/ws", window=3_000, session=session) as again:
        assert "Rex" in again.ask("What is my dog called?").text


def test_what_was_set_aside_stays_so_when_the_session_is_resumed_and_pins_of_it_stay(make: Make) -> None:
    short = CompactionConfig(trigger_messages=4, trigger_tokens=0, keep_messages=1)
    model = ScriptedModel(chat=["a0", "a1", refused(), "a3"], summary=["short"], repeat_last=True, window=3_000)
    agent = make(model=model, compaction=short, session="s")
    agent.ask("q0")
    agent.ask("q1 " * 100)
    agent.pin("keep to metres")
    with pytest.raises(ContextOverflowError):
        agent.ask("keep to metres " + "x " * 8_000)
    agent.ask("q3")
    assert any("keep to metres" in message.text for message in talk_of(chats(agent)[-1])) and all_valid(agent)
    shown = [item.message.text for item in agent.view().input]
    agent.close()
    again = make("x", session="s", compaction=short)
    assert [item.message.text for item in again.view().input] == shown
    assert sum(map(len, shown)) < 4_000
