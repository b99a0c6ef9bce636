from __future__ import annotations

from typing import Any

from harness_nb.agent.past import LOST, read_log
from harness_nb.core.messages import Message
from harness_nb.core.pins import Pin
from harness_nb.core.records import message_to_record


def said(index: int, text: str = "hello") -> dict[str, Any]:
    return {"kind": "message", "index": index, **message_to_record(Message.user(text))}


def test_messages_pins_flush_mark_and_turns_come_back() -> None:
    past = read_log([said(0), {"kind": "event", "event": "turn_started"}, {"kind": "pin", "text": "hello", "source": "user", "index": 0}, {"kind": "flushed", "upto": 1}, said(1)])  # fmt: skip
    assert [message.text for message in past.messages] == ["hello", "hello"]
    assert (past.pins, past.flushed, past.turns, past.warnings) == ([Pin("hello", "user", 0)], 1, 1, [])


def test_a_lost_message_leaves_the_index_of_every_other_as_it_was() -> None:
    past = read_log([said(0), said(2, "third"), said(3, "fourth")])
    assert [message.text for message in past.messages] == ["hello", LOST, "third", "fourth"]
    assert past.messages[1].origin == "harness"
    assert past.warnings == ["1 message(s) before message 2 could not be read."]


def test_a_message_that_stands_twice_or_far_out_is_skipped() -> None:
    past = read_log([said(0), said(0, "again"), said(10**9)])
    assert [message.text for message in past.messages] == ["hello"] and len(past.warnings) == 2


def test_a_record_that_is_none_costs_itself_only() -> None:
    records: list[dict[str, Any]] = [
        {"kind": "message", "index": 0, "message": 5}, {"kind": "message"}, {"kind": "pin"},
        {"kind": "flushed", "upto": "soon"}, {"kind": "shown", "item": None}, {"kind": "unknown"}, {}, said(0),
    ]  # fmt: skip
    past = read_log(records)
    assert [message.text for message in past.messages] == ["hello"] and len(past.warnings) == 5


def test_the_answer_so_far_counts_only_when_no_message_came_after_it() -> None:
    so_far = [{"kind": "so_far", "text": "one"}, {"kind": "so_far", "text": "one two"}]
    assert read_log([said(0), *so_far]).so_far == "one two"
    assert read_log([said(0), *so_far, said(1)]).so_far == ""
    assert read_log([said(0), *so_far, {"kind": "so_far", "text": ""}]).so_far == ""
