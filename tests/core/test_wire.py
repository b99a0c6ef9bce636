from __future__ import annotations

from hypothesis import given

from harness_nb.core import edits
from harness_nb.core.messages import Image, Message, Text, Thinking, ToolCall
from harness_nb.core.requests import Reply
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.core.wire import DIVIDER, alternating, repeats
from tests.strategies import message_lists

PICTURE = Image("https://example.org/a.png", '{"type":"image_url"}')


def test_r005_summary_and_first_kept_user_message_reach_a_strict_target_as_one_turn() -> None:
    said = [Message.user("U1"), Message.assistant("A1"), Message.user("U2 {x}"), Message.assistant("A2")]
    view = View.of(Transcript(said))
    old, recent = view.cut(keep_messages=2)
    kept = [edits.summary(Reply("what was said"), of=old), *recent]

    sent = alternating([Message.system("S"), *(item.message for item in kept)])

    assert [one.role for one in sent] == ["system", "user", "assistant"]
    assert sent[1].text == f"{kept[0].message.text}{DIVIDER}U2 {{x}}"
    assert repeats([item.message for item in kept]) == (1,)
    assert repeats(sent) == ()


@given(message_lists())
def test_roles_alternate_afterwards_and_the_list_stays_valid(messages: list[Message]) -> None:
    doubled = [one for message in messages for one in ([message, message] if message.role == "user" else [message])]

    sent = alternating(doubled)

    assert repeats(sent) == ()
    assert problems(sent) == problems(messages)
    assert alternating(sent) == sent


@given(message_lists())
def test_a_list_that_alternates_is_left_alone(messages: list[Message]) -> None:
    if not repeats(messages):
        assert alternating(messages) == tuple(messages)


def test_parts_of_both_messages_stay_whole_with_the_divider_between() -> None:
    thought = Thinking("hm", '{"type":"thinking","signature":"s"}')

    sent = alternating([Message.user((Text("a"), PICTURE)), Message.user("b"), Message("assistant", (thought,))])

    assert sent[0].parts == (Text("a"), PICTURE, Text(DIVIDER), Text("b"))
    assert sent[1].parts == (thought,)


def test_an_answer_and_a_call_after_it_become_one_message() -> None:
    call = ToolCall("c1", "run")

    sent = alternating([
        Message.assistant("a", rest='{"x":1}'), Message.assistant(None, [call], rest='{"y":2}'), Message.tool("c1", "d"),
    ])  # fmt: skip

    assert sent[0] == Message.assistant("a", [call], rest='{"x":1,"y":2}')
    assert alternating([Message.assistant(None), Message.assistant("b")]) == (Message.assistant("b"),)


def test_results_and_calling_messages_are_never_joined() -> None:
    calling = Message.assistant(None, [ToolCall("c1", "run"), ToolCall("c2", "run")])
    messages = [calling, Message.tool("c1", "a"), Message.tool("c2", "b"), Message.assistant("c")]

    assert alternating(messages) == tuple(messages)
    assert alternating([calling, Message.assistant("x")]) == (calling, Message.assistant("x"))


def test_what_a_person_said_counts_as_said_by_a_person_after_joining() -> None:
    note = Message.user("note", origin="harness")

    assert alternating([Message.user("a"), note])[0].origin == "user"
    assert alternating([note, note])[0].origin == "harness"
