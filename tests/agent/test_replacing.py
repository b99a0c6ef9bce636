"""A host's own list in the place of what the model sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import MessageError, SessionBusyError
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, log_records, talk_of


def said(agent: Any) -> list[str]:
    return [item.message.text for item in agent.view().input]


def after_three_turns(make: Make, **options: Any) -> Any:
    agent = make("a0", "a1", "a2", "a3", "a4", **options)
    for turn in range(3):
        agent.ask(f"q{turn}")
    return agent


def test_a_hosts_list_is_what_the_model_sees_from_then_on(make: Make) -> None:
    agent = after_three_turns(make)
    report = agent.replace_messages([Message.user("what was before, by the host"), *agent.messages[4:]])
    assert said(agent) == ["what was before, by the host", "q2", "a2"]
    (first, *rest) = agent.view().input
    assert (first.how, first.index, first.stands_for, first.message.origin) == (
        "summary",
        None,
        (0, 1, 2, 3),
        "harness",
    )
    assert [item.index for item in rest] == [4, 5]
    assert len(agent.messages) == 6
    (event,) = events(agent, CompactionFinished)
    assert report.events == (event,)
    assert (event.policy, event.hook, event.outcome, event.detail) == ("host", "manual", "completed", "replaced")
    assert (event.summarised, event.gone, event.left) == (4, 0, (0, 1, 2, 3))
    assert event.tokens_after == agent.view().tokens
    agent.ask("q3")
    assert [one.text for one in talk_of(chats(agent)[-1])] == ["what was before, by the host", "q2", "a2", "q3"]
    assert all_valid(agent)


def test_messages_in_openai_format_are_recognised_and_what_is_left_out_is_said(make: Make) -> None:
    agent = after_three_turns(make)
    agent.replace_messages([{"role": "user", "content": "q1"}, {"role": "assistant", "content": "a1"}])
    assert [(item.index, item.how) for item in agent.view().input] == [(2, "kept"), (3, "kept")]
    assert events(agent, CompactionFinished)[0].gone == 4


def test_the_latest_of_equal_messages_is_meant_and_an_earlier_summary_keeps_its_place(make: Make) -> None:
    agent = make("ok", "ok", "ok")
    for _ in range(3):
        agent.ask("go on")
    agent.replace_messages([Message.user("summary"), *agent.messages[-2:]])
    assert [item.index for item in agent.view().input] == [None, 4, 5]
    agent.replace_messages([item.message for item in agent.view().input])
    assert [item.index for item in agent.view().input] == [None, 4, 5]
    assert agent.view().input[0].stands_for == (0, 1, 2, 3)


INVALID = [
    ([], 0, "no message"),
    ([Message.assistant("first")], 0, "not the user's"),
    ([Message.user("q"), Message.user("")], 1, "without content"),
    ([Message.user("q"), Message.tool("c1", "result")], 1, "without its call"),
    ([Message.user("q"), Message.assistant(None, [ToolCall("c1", "look")])], 1, "without its result"),
    ([Message.user("q"), Message.system("obey")], 1, "system message"),
]


@pytest.mark.parametrize(("messages", "position", "problem"), INVALID)
def test_an_invalid_list_is_refused_and_nothing_changes(
    make: Make, messages: list[Message], position: int, problem: str
) -> None:
    agent = after_three_turns(make)
    before, log = agent.view().input, log_records(agent, "event")
    with pytest.raises(MessageError, match=problem) as caught:
        agent.replace_messages(messages)
    assert caught.value.subject == position and f"position {position}" in caught.value.problem
    assert agent.view().input is before and log_records(agent, "event") == log
    assert events(agent, CompactionFinished) == []


def test_something_that_is_no_message_is_refused(make: Make) -> None:
    agent = after_three_turns(make)
    with pytest.raises(MessageError, match="A message is a mapping, not str"):
        agent.replace_messages(["text"])  # type: ignore[list-item]  # that is the point
    assert said(agent)[0] == "q0"


def test_a_resumed_session_goes_on_with_the_hosts_list(make: Make) -> None:
    agent = after_three_turns(make)
    agent.replace_messages([Message.user("the host's summary"), *agent.messages[-2:]])
    agent.ask("q3")
    shown, session = agent.view().input[:], agent.session
    agent.close()
    again = make("later", session=session)
    assert [(item.index, item.message.text, item.stands_for) for item in again.view().input] == [
        (item.index, item.message.text, item.stands_for) for item in shown
    ]
    assert "replaced" in [record.get("detail") for record in log_records(again, "event")]


def test_what_is_pinned_stays(make: Make) -> None:
    agent = after_three_turns(make)
    agent.pin("Never touch prod.")
    agent.replace_messages([Message.user("the host's summary"), *agent.messages[-2:]])
    assert any("Never touch prod." in text for text in said(agent))


def test_a_list_is_not_replaced_in_the_middle_of_a_turn(make: Make, workspace: Path) -> None:
    caught: list[Exception] = []

    def meddle() -> str:
        """Tries it."""
        try:
            agent.replace_messages([Message.user("mine")])
        except SessionBusyError as error:
            caught.append(error)
        return "done"

    agent = make([ToolCall("c1", "meddle", "{}")], "answer", tools=[meddle], permissions="allow")
    agent.ask("go")
    assert len(caught) == 1 and said(agent)[0] == "go"
