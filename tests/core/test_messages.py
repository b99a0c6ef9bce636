from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall, Usage, to_json
from harness_nb.errors import MessageError
from tests.strategies import json_values, message_lists, wire_messages


@given(wire_messages())
def test_openai_format_survives_both_ways(wire: dict[str, Any]) -> None:
    before = copy.deepcopy(wire)

    assert Message.from_openai(wire).to_openai() == wire

    assert wire == before


@given(wire_messages())
def test_what_is_sent_can_be_written_as_utf8_json(wire: dict[str, Any]) -> None:
    text = to_json(Message.from_openai(wire).to_openai())

    assert json.loads(text.encode()) == wire


@given(message_lists(1))
def test_messages_survive_the_way_out_and_back(messages: list[Message]) -> None:
    fields = [{"status": one.status} for one in messages]

    assert [
        Message.from_openai(one.to_openai(), **more) for one, more in zip(messages, fields, strict=True)
    ] == messages


@given(message_lists(1))
def test_messages_survive_pickling_and_have_equal_hashes(messages: list[Message]) -> None:
    again = pickle.loads(pickle.dumps(messages))  # noqa: S301

    assert again == messages
    assert [hash(one) for one in again] == [hash(one) for one in messages]


@given(json_values())
def test_compact_json_says_the_same_value(value: Any) -> None:
    assert json.loads(to_json(value).encode()) == value


@pytest.mark.parametrize(
    "wire",
    [
        {"role": "assistant", "tool_calls": []},
        {"role": "assistant", "content": None, "tool_calls": None, "refusal": None, "audio": None},
        {"role": "developer", "content": "Be brief."},
        {"role": "function", "name": "run", "content": "42"},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": ["odd"], "text": "x"}, {"type": "text", "text": None}, "bare", None]},
        {"role": "user", "content": [{"type": "image_url", "image_url": None}, {"type": "image_url"}]},
        {"role": "assistant", "content": "", "tool_calls": [_call := {"id": "c1", "type": "function"} | {
            "function": {"name": "run", "arguments": '{"big": 123456789012345678901234567890}'}
        }]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "index": 0, "function": {"name": "run", "arguments": {"a": 1}, "x": None}},
            {"id": "c2", "type": "function", "function": {"name": "run", "arguments": None}},
            {"id": "c3", "type": "custom", "custom": {"name": "shell", "input": "ls"}, "function": 3},
            {"id": "c4", "type": "mcp", "function": {"name": "run", "arguments": ""}},
        ]},
    ],
)  # fmt: skip
def test_odd_but_legal_forms_go_back_as_they_came(wire: dict[str, Any]) -> None:
    assert Message.from_openai(wire).to_openai() == wire


def test_numbers_as_ids_become_texts_on_both_sides_so_that_they_still_match() -> None:
    call = {"id": 7, "function": {"name": "run"}}

    calling = Message.from_openai({"role": "assistant", "content": None, "tool_calls": [call]})
    result = Message.from_openai({"role": "tool", "tool_call_id": 7, "content": "42"})

    assert calling.calls[0].id == result.call_id == "7"
    assert calling.to_openai()["tool_calls"] == [
        {"id": "7", "type": "function", "function": {"name": "run", "arguments": ""}}
    ]


@pytest.mark.parametrize(
    ("wire", "named"),
    [
        ("hello", "str"),
        ({"content": "x"}, "None is no role"),
        ({"role": ["user"], "content": "x"}, r"\['user'\] is no role"),
        ({"role": "robot"}, "'robot' is no role"),
        ({"role": "user", "content": 5}, "content of a message can't be a int"),
        ({"role": "user", "content": {"type": "text"}}, "content"),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls can't be a int"),
        ({"role": "assistant", "tool_calls": {"id": "c1"}}, "tool_calls can't be a dict"),
        ({"role": "assistant", "tool_calls": ["c1"]}, "A tool call is a mapping, not str"),
        ({"role": "assistant", "tool_calls": [{"id": "c1"}]}, "tool call 'c1' has no function with a name"),
        ({"role": "assistant", "tool_calls": [{"id": "c1", "type": "custom"}]}, "no custom with a name"),
    ],
)
def test_what_is_no_message_is_refused_with_the_wrong_field_named(wire: Any, named: str) -> None:
    with pytest.raises(MessageError, match=named) as caught:
        Message.from_openai(wire)
    assert caught.value.remedy


def test_a_message_of_no_known_role_can_not_be_made() -> None:
    with pytest.raises(MessageError, match="'robot' is no role"):
        Message("robot")  # type: ignore[arg-type]


def test_parts_are_read_for_what_they_are() -> None:
    message = Message.from_openai({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln=="},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "yes", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
        {"type": "server_tool_use", "id": "s1"},
        "bare",
    ]})  # fmt: skip

    assert [type(part) for part in message.parts] == [Thinking, Thinking, Text, Image, Opaque, Opaque]
    assert isinstance(message.parts[0], Thinking) and message.parts[0].text == "hm"
    assert [part.type for part in message.parts if isinstance(part, Opaque)] == ["server_tool_use", ""]
    assert message.text == "yes"


@pytest.mark.parametrize("thinking", ["sig==", "a\ud83d", "{}", ' "x" '])
def test_r008_reasoning_is_carried_byte_for_byte_or_not_at_all(thinking: str) -> None:
    block = {"type": "thinking", "thinking": thinking, "signature": "sig==", "more": {"b": 1, "a": [1.0, 1]}}
    message = Message.from_openai({"role": "assistant", "content": [block, {"type": "text", "text": "long answer"}]})

    shorter = message.with_text("short")

    assert shorter.to_openai()["content"] == [block, {"type": "text", "text": "short"}]
    assert json.dumps(shorter.to_openai()["content"][0]) == json.dumps(block)
    assert shorter.parts[0] == message.parts[0]


def test_r009_pairs_of_provider_run_parts_stay_together_when_the_text_changes() -> None:
    pair = [{"type": "server_tool_use", "id": "s1"}, {"type": "advisor_tool_result", "tool_use_id": "s1"}]
    message = Message.from_openai({"role": "assistant", "content": [*pair, {"type": "text", "text": "a"}]})

    assert message.with_text("b").to_openai()["content"] == [*pair, {"type": "text", "text": "b"}]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "new"),
        ("old", "new"),
        ((), (Text("new"),)),
        ((Text("a"), Text("b")), (Text("new"),)),
        ((Opaque("{}"), Text("a"), Opaque("[]"), Text("b")), (Opaque("{}"), Text("new"), Opaque("[]"))),
    ],
)
def test_new_text_takes_the_place_of_the_old(content: Any, expected: Any) -> None:
    assert Message("user", content).with_text("new").content == expected


def test_text_given_to_a_message_that_had_no_content_is_sent() -> None:
    message = Message.from_openai({"role": "assistant"})

    assert message.to_openai() == {"role": "assistant"}
    assert message.with_text("hi").to_openai() == {"role": "assistant", "content": "hi"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1}', {"a": 1}), ("", {}), ("{}", {}), ("[1]", None), ('"x"', None), ('{"pa', None), ("null", None),
        ("[" * 100_000, None),
    ],
)  # fmt: skip
def test_arguments_are_a_dict_or_nothing(arguments: str, expected: Any) -> None:
    assert ToolCall("c1", "run", arguments).parsed() == expected


@pytest.mark.parametrize(
    ("message", "blank"),
    [
        (Message.assistant(None), True),
        (Message.assistant(" \n"), True),
        (Message("assistant", ()), True),
        (Message("assistant", (Text(" "),)), True),
        (Message.assistant("x"), False),
        (Message.assistant(None, [ToolCall("c1", "run")]), False),
        (Message("user", (Image("u", "{}"),)), False),
    ],
)
def test_a_message_is_blank_when_there_is_nothing_to_see(message: Message, blank: bool) -> None:
    assert message.is_blank is blank


def test_who_made_a_message_follows_from_its_role_unless_said() -> None:
    made = [Message.system("a"), Message.user("b"), Message.assistant("c"), Message.tool("c1", "d")]

    assert [one.origin for one in made] == ["harness", "user", "model", "tool"]
    assert Message.user("note", origin="harness").origin == "harness"


def test_fields_beside_the_format_do_not_go_on_the_wire() -> None:
    moment = datetime(2026, 4, 12, tzinfo=UTC)
    message = Message.tool("c1", "x", status="error", time=moment, usage=Usage(1), finish="stop")

    assert message.to_openai() == {"role": "tool", "content": "x", "tool_call_id": "c1"}


def test_a_message_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        Message.user("a").content = "b"  # type: ignore[misc]
