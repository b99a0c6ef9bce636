from __future__ import annotations

import json

import pytest

from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import ModelError
from harness_nb.model.json_calls import (
    answer_so_far,
    reply_of,
    response_format,
    rounds_of_turn,
    with_instructions,
    without_calls,
)
from tests.model.asking import TOOLS

CALL = ToolCall("c", "add", '{"a":1}')


def test_schema_admits_each_tool_or_an_answer() -> None:
    choices = response_format(TOOLS)["json_schema"]["schema"]["anyOf"]
    assert [choice["required"] for choice in choices] == [["tool", "arguments"], ["tool", "arguments"], ["answer"]]
    assert choices[0]["properties"]["arguments"] == TOOLS[0].parameters


def test_answer_grows_with_its_text() -> None:
    whole = json.dumps({"answer": 'He said "hi" \\ and\n😀 ü'})
    seen = [answer_so_far(whole[:end]) for end in range(len(whole) + 1)]
    assert seen[-1] == 'He said "hi" \\ and\n😀 ü'
    assert all(later.startswith(earlier) for earlier, later in zip(seen, seen[1:], strict=False))
    assert answer_so_far('{"tool": "add"') == ""


def test_reply_is_a_call_or_an_answer() -> None:
    assert reply_of('{\n "tool": "add", "arguments": {"a": 1}}', "c") == CALL
    assert reply_of('{"answer": "Yes."}', "c") == "Yes."
    assert reply_of('{"answer": "cut of', "c") == "cut of"
    assert reply_of("plain words", "c") == "plain words"


def test_r098_cut_call_is_an_error() -> None:
    with pytest.raises(ModelError, match="inside a tool call"):
        reply_of('{"tool": "add", "arguments": {"a": ', "c")


def test_calls_and_results_become_plain_texts() -> None:
    talk = [
        Message.user("Add."),
        Message.assistant("I will.", [CALL, ToolCall("d", "add", "{}")]),
        Message.tool("c", "1"),
        Message.tool("d", "2"),
        Message.user("Thanks."),
    ]
    spoken = without_calls(talk)
    assert [one.role for one in spoken] == ["user", "assistant", "user"]
    assert spoken[1].text.splitlines() == [
        "I will.",
        '{"tool":"add","arguments":{"a":1}}',
        '{"tool":"add","arguments":{}}',
    ]
    assert spoken[2].text == "[add returned] 1\n[add returned] 2\nThanks."


def test_tools_are_described_in_the_system_prompt() -> None:
    told = with_instructions([Message.system("Be brief."), Message.user("x")], TOOLS)
    assert told[0].text.startswith("Be brief.") and "- add(a, b): Adds two numbers." in told[0].text
    assert with_instructions([Message.user("x")], TOOLS)[0].role == "system"


def test_rounds_are_counted_since_the_user_spoke() -> None:
    talk = [
        Message.user("x"),
        Message.assistant(calls=[CALL]),
        Message.tool("c", "1"),
        Message.user("note", origin="harness"),
    ]
    assert rounds_of_turn(talk) == 1
    assert rounds_of_turn([*talk, Message.user("y")]) == 0
