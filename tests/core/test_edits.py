from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall
from harness_nb.core.requests import Failure, Reply
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from tests.strategies import message_lists

PICTURE = Image("https://example.org/a.png", '{"type":"image_url"}')
THOUGHT = Thinking("hm", '{"type":"thinking","thinking":"hm","signature":"sig=="}')
PAIR = (Opaque('{"type":"server_tool_use","id":"s1"}'), Opaque('{"type":"advisor_tool_result","tool_use_id":"s1"}'))


def result(text: str = "x" * 500, index: int = 4) -> Item:
    return Item(index, Message.tool("c1", text, name="run", status="error"), stands_for=(2,), meta={"node": 1})


def test_a_truncated_text_keeps_head_tail_and_says_how_much_is_left_out() -> None:
    item = edits.truncated(result("a" * 300 + "b" * 300), 10, 20)

    assert item.message.text == "a" * 10 + "\n[570 characters left out]\n" + "b" * 20
    assert (item.how, item.index, item.stands_for, item.meta) == ("truncated", 4, (2,), {"node": 1, "omitted": 570})
    assert (item.message.call_id, item.message.name, item.message.status) == ("c1", "run", "error")


@pytest.mark.parametrize("text", ["short", "x" * 30, "x" * 50])
def test_r044_a_text_that_would_not_get_shorter_is_left_alone(text: str) -> None:
    item = result(text)

    assert edits.truncated(item, 10, 20) is item


@given(message_lists(1), st.integers(0, 50), st.integers(0, 50))
def test_an_edit_never_makes_a_text_longer(messages: list[Message], head: int, tail: int) -> None:
    for item in View.of(Transcript(messages)).input:
        assert len(edits.truncated(item, head, tail).message.text) <= len(item.message.text)


def test_r008_reasoning_stays_whole_and_first_in_every_edit() -> None:
    item = Item(4, Message("assistant", (THOUGHT, Text("x" * 500))))

    assert edits.truncated(item, 5, 5).message.parts[0] is THOUGHT
    assert edits.merged(item, "summary", of=()).message.parts[0] is THOUGHT
    assert edits.merged(item, "summary", of=()).message.text == "summary\n\n---\n\n\n" + "x" * 500


def test_r009_pairs_of_provider_run_parts_stay_together_in_every_edit() -> None:
    item = Item(4, Message("assistant", (*PAIR, Text("x" * 500), PICTURE)))

    assert edits.truncated(item, 5, 5).message.parts[:2] == PAIR
    assert edits.evicted(item, "filed", "a.txt").message.parts == (*PAIR, Text("filed"), PICTURE)
    merged = edits.merged(item, "summary", of=()).message.parts
    assert merged[1:] == item.message.parts


def test_r040_shortened_arguments_leave_the_rest_of_the_message_alone() -> None:
    long, short = json.dumps({"path": "a.md", "content": "x" * 5_000}), '{"path":"b.md"}'
    item = Item(3, Message.assistant("writing", [ToolCall("c1", "write", long), ToolCall("c2", "write", short)]))

    edited = edits.arguments_truncated(item, 2_000)

    first, second = edited.message.calls
    assert json.loads(first.arguments)["path"] == "a.md"
    assert len(first.arguments) < 2_100
    assert (second, edited.message.text, edited.how) == (item.message.calls[1], "writing", "truncated")
    assert edits.arguments_truncated(edited, 2_000) is edited


def test_r040_arguments_that_came_as_a_value_are_sent_shortened_too() -> None:
    wire = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": {"content": "x" * 5_000}}}
    item = Item(0, Message.from_openai({"role": "assistant", "content": None, "tool_calls": [wire]}))

    sent = edits.arguments_truncated(item, 200).message.to_openai()["tool_calls"][0]["function"]["arguments"]

    assert len(sent["content"]) <= 200


def test_short_arguments_leave_the_item_itself() -> None:
    item = Item(0, Message.assistant(None, [ToolCall("c1", "run", "not json")]))

    assert edits.arguments_truncated(item, 100) is item
    assert edits.arguments_truncated(result(), 100).how == "kept"


def test_a_cleared_result_still_answers_its_call() -> None:
    item = edits.cleared(result())

    assert item.message.text == "[old tool result cleared]"
    assert (item.message.call_id, item.message.name, item.message.status) == ("c1", "run", "error")
    assert (item.how, item.indices) == ("cleared", (2, 4))


def test_an_evicted_result_names_its_file_and_keeps_its_pictures() -> None:
    item = edits.evicted(Item(0, Message.tool("c1", (Text("x" * 500), PICTURE))), "see a.txt", "results/a.txt")

    assert item.message.parts == (Text("see a.txt"), PICTURE)
    assert (item.how, item.meta) == ("evicted", {"path": "results/a.txt"})


def test_a_merged_message_keeps_its_own_text_word_for_word_and_takes_over_what_was_stood_for() -> None:
    earlier = Item(None, Message.user("S1", origin="harness"), "summary", (0, 1, 2))
    own = Item(5, Message.user("my {question}"), stands_for=(4,))

    merged = edits.merged(own, "summary", of=[earlier, Item(3, Message.assistant("a"))])

    assert merged.message.parts == (Text("summary\n\n---\n\n"), Text("my {question}"))
    assert (merged.index, merged.stands_for, merged.how) == (5, (0, 1, 2, 3, 4), "merged")
    assert merged.is_real_user


def test_a_summary_of_summaries_names_every_message_that_it_covers() -> None:
    first = edits.summary(Reply("one"), of=[Item(index, Message.user("u")) for index in (0, 1, 2)])

    second = edits.summary(Reply(" two \n"), of=[first, Item(5, Message.user("u"), stands_for=(3, 4))])

    assert second.stands_for == (0, 1, 2, 3, 4, 5)
    assert (second.index, second.how, second.message.role, second.message.origin) == (
        None,
        "summary",
        "user",
        "harness",
    )
    assert second.message.text == f"{edits.SUMMARY_OPENING}two{edits.SUMMARY_CLOSING}"
    assert not second.is_real_user


@pytest.mark.parametrize(
    ("reply", "failed", "assumed"),
    [
        (Reply("text"), False, False),
        (Reply("text", assumed=True), False, True),
        (Reply(""), True, False),
        (Reply(" \n "), True, False),
        (Reply(None), True, False),
        (Reply("half", Failure("timeout")), True, False),
    ],
)
def test_a_summary_says_when_it_failed_or_was_only_assumed(reply: Reply, failed: bool, assumed: bool) -> None:
    item = edits.summary(reply, of=())

    assert (item.failed, item.assumed) == (failed, assumed)


def test_a_summary_names_why_it_failed() -> None:
    assert edits.summary(Reply(None, Failure("timeout")), of=()).meta == {"failed": "timeout"}
    assert edits.summary(Reply(" "), of=()).meta == {"failed": "blank"}


def test_a_note_is_the_harnesss_and_may_stand_for_messages() -> None:
    item = edits.note("4 messages are left out", of=[result()], meta={"count": 4})

    assert (item.how, item.stands_for, item.meta) == ("note", (2, 4), {"count": 4})
    assert (item.message.role, item.message.origin) == ("user", "harness")


def test_the_last_edit_stands_and_keeps_what_earlier_ones_recorded() -> None:
    item = edits.cleared(edits.truncated(result("x" * 900), 5, 5))

    assert (item.how, item.meta["omitted"], item.message.text) == ("cleared", 890, "[old tool result cleared]")


def test_a_list_that_begins_with_an_answer_gets_a_note_in_front_of_the_conversation() -> None:
    prompt, said, answer = (
        Item(None, Message.system("be brief")),
        Item(0, Message.user("hi")),
        Item(1, Message.assistant("hello")),
    )
    assert edits.opened([said, answer]) == (said, answer)
    assert edits.opened([prompt]) == (prompt,) and edits.opened([]) == ()
    assert edits.opened([prompt, answer]) == (prompt, edits.note(edits.OPENING), answer)


def test_a_text_of_ones_own_is_no_reply_and_the_error_says_what_to_write_instead() -> None:
    with pytest.raises(ConfigError, match=r"'Done\.' is no reply\.\nGive view\.reply.*edits\.note"):
        edits.summary("Done.", of=())  # type: ignore[arg-type]
