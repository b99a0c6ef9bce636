from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Usage
from harness_nb.core.records import (
    item_from_record,
    item_to_record,
    log_line,
    message_from_record,
    message_to_record,
    parse_line,
)
from harness_nb.core.requests import Reply
from harness_nb.errors import MessageError
from tests.strategies import message_lists, wire_messages

LOG = [Message.user("a"), Message.assistant("b"), Message.user("c", origin="harness")]
USAGES = st.none() | st.builds(
    Usage, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([None, 0.0, 0.25])
)
TIMES = st.none() | st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))]))


def through_a_file(record: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(record).encode())
    return read


@given(wire_messages(), USAGES, TIMES, st.sampled_from(["", "ok", "denied"]), st.sampled_from(["user", "harness"]))
def test_a_message_survives_the_way_into_a_file_and_back(
    wire: dict[str, Any], usage: Usage | None, time: datetime | None, status: str, origin: Any
) -> None:
    message = Message.from_openai(wire, usage=usage, time=time, status=status, origin=origin, finish="stop")

    assert message_from_record(through_a_file(message_to_record(message))) == message


@given(message_lists(1))
def test_a_line_of_a_log_is_one_line_of_utf8_and_holds_the_message(messages: list[Message]) -> None:
    for index, message in enumerate(messages):
        line = log_line(index, message)
        assert "\n" not in line
        record = parse_line(line.encode().decode())
        assert record is not None
        assert (record["kind"], record["index"], message_from_record(record)) == ("message", index, message)


def test_r008_reasoning_comes_back_from_a_file_byte_for_byte() -> None:
    block = {"type": "thinking", "thinking": "a ‘b’ \u0001 1.0", "signature": "sig=="}
    message = Message.from_openai({"role": "assistant", "content": [block, {"type": "text", "text": "x"}]})

    again = message_from_record(through_a_file(message_to_record(message)))

    assert again.parts[0] == message.parts[0]
    assert json.dumps(again.to_openai()["content"][0]) == json.dumps(block)


@pytest.mark.parametrize(
    "item",
    [
        Item(0, LOG[0]),
        Item(2, LOG[2], stands_for=(1,)),
        edits.truncated(Item(1, Message.assistant("b" * 900)), 5, 5),
        edits.merged(Item(0, LOG[0]), "S", of=[Item(1, LOG[1])]),
        edits.summary(Reply("S"), of=[Item(0, LOG[0])]),
        edits.note("N", meta={"count": 3, "nested": {"a": [1, None]}}),
        replace(Item(1, LOG[1]), meta={"node": "n1"}),
    ],
)
def test_an_item_survives_the_way_into_a_file_and_back(item: Item) -> None:
    assert item_from_record(through_a_file(item_to_record(item)), LOG) == item


def test_a_message_as_the_log_has_it_is_named_by_its_index_alone() -> None:
    assert item_to_record(Item(1, LOG[1])) == {"index": 1}


def test_free_is_not_the_same_as_of_unknown_cost() -> None:
    assert message_to_record(replace(LOG[1], usage=Usage(5, cost=0.0)))["usage"] == {"input_tokens": 5, "cost": 0.0}
    assert message_to_record(replace(LOG[1], usage=Usage(5)))["usage"] == {"input_tokens": 5}


def test_fields_that_are_not_known_are_passed_over() -> None:
    record = {"kind": "message", "version": 9, "message": {"role": "user", "content": "a"}, "usage": {"new": 1}}

    assert message_from_record(record) == replace(LOG[0], usage=Usage(0))
    assert item_from_record({"index": 0, "new": 1}, LOG) == Item(0, LOG[0])


@pytest.mark.parametrize(
    "record",
    [
        {}, {"message": None}, {"message": "hi"}, {"message": {"role": "robot"}}, {"message": {"role": "user"}, "time": "x"},
        {"message": {"role": "user"}, "time": 5}, {"message": {"role": "user"}, "usage": 5}, [], None,
    ],
)  # fmt: skip
def test_a_record_without_a_message_is_refused(record: Any) -> None:
    with pytest.raises(MessageError):
        message_from_record(record)


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ({"index": 3}, "message 3"),
        ({"index": -1}, "message -1"),
        ({"index": "0"}, "message '0'"),
        ({}, "neither an index nor a message"),
        ({"shown": {"message": None}}, "not NoneType"),
        ({"index": 0, "stands_for": 5}, "is no item"),
        ({"index": 0, "meta": [1]}, "is no item"),
        ([], "is no item"),
    ],
)
def test_a_record_without_an_item_is_refused(record: Any, named: str) -> None:
    with pytest.raises(MessageError, match=named):
        item_from_record(record, LOG)


@pytest.mark.parametrize("line", ["", "{", '{"a":1}x', "[]", "3", "null", "[" * 100_000])
def test_a_line_that_is_no_object_is_none(line: str) -> None:
    assert parse_line(line) is None
