from __future__ import annotations

import json
from typing import Any

import pytest

from harness_nb.core.messages import Message, Usage
from harness_nb.errors import ModelError
from harness_nb.model.assembly import Assembly
from harness_nb.model.base import CallDelta, Delta, TextDelta, ThinkingDelta


def piece(finish: str | None = None, usage: dict[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": finish}], "usage": usage}


def call(index: int, **fields: Any) -> dict[str, Any]:
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return {"index": index, "function": function, **fields}


def assembled(*pieces: dict[str, Any]) -> tuple[list[Delta], Message]:
    assembly = Assembly()
    deltas = [delta for one in pieces for delta in assembly.add(one)]
    return deltas, assembly.message()


def test_text_is_joined_and_usage_is_read() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    deltas, message = assembled(
        piece(content="Hel"), piece(content="lo"), piece("stop"), {"choices": [], "usage": usage}
    )
    assert deltas == [TextDelta("Hel"), TextDelta("lo")]
    assert (message.text, message.finish, message.usage) == ("Hello", "stop", Usage(12, 3, 8))


def test_pieces_of_several_calls_are_put_together() -> None:
    deltas, message = assembled(
        piece(tool_calls=[call(0, id="a", name="add", arguments='{"x"')]),
        piece(tool_calls=[call(1, id="b", name="list", arguments="")]),
        piece(tool_calls=[call(0, arguments=": 1}")]),
        piece("tool_calls"),
    )
    assert [(one.id, one.name, one.arguments) for one in message.calls] == [
        ("a", "add", '{"x": 1}'),
        ("b", "list", "{}"),
    ]
    assert deltas == [CallDelta(0, "add", '{"x"'), CallDelta(1, "list", ""), CallDelta(0, "", ": 1}")]


def test_reasoning_goes_back_as_it_came() -> None:
    deltas, message = assembled(
        piece(reasoning_content="I ", thinking_blocks=[{"type": "thinking", "thinking": "I ", "signature": None}]),
        piece(reasoning_content="think", thinking_blocks=[{"type": "thinking", "thinking": "think"}]),
        piece(thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "c2ln/+=="}]),
        piece(thinking_blocks=[{"type": "redacted_thinking", "data": "xyz"}]),
        piece("stop", content="Yes", provider_specific_fields={"citations": [1]}),
    )
    assert [delta for delta in deltas if isinstance(delta, ThinkingDelta)] == [
        ThinkingDelta("I "),
        ThinkingDelta("think"),
    ]
    wire = message.to_openai()
    assert wire["reasoning_content"] == "I think"
    assert wire["thinking_blocks"] == [
        {"type": "thinking", "thinking": "I think", "signature": "c2ln/+=="},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
    assert wire["provider_specific_fields"] == {"citations": [1]}


def test_signature_of_a_call_is_kept_with_it() -> None:
    _, message = assembled(
        piece(
            "tool_calls",
            tool_calls=[call(0, id="a", name="f", arguments="{}", provider_specific_fields={"thought_signature": "s"})],
        )
    )
    assert json.loads(message.calls[0].rest) == {"provider_specific_fields": {"thought_signature": "s"}}


@pytest.mark.parametrize("arguments", ['{"x": 1', '{"x": "a', '{"x"', "{", '{"x": [1, 2'])
def test_r098_unfinished_call_fails_the_reply(arguments: str) -> None:
    with pytest.raises(ModelError, match="inside a call of 'add'"):
        assembled(
            piece(content="Let me add."),
            piece("tool_calls", tool_calls=[call(0, id="a", name="add", arguments=arguments)]),
        )


def test_r098_call_cut_by_the_length_limit_is_left_out() -> None:
    cut = call(1, id="b", name="add", arguments='{"x": ')
    _, message = assembled(
        piece(content="Text", tool_calls=[call(0, id="a", name="add", arguments="{}"), cut]), piece("length")
    )
    assert [one.id for one in message.calls] == ["a"]
    with pytest.raises(ModelError, match="inside a call"):
        assembled(piece("length", tool_calls=[cut]))


def test_arguments_that_are_wrong_but_whole_are_the_models_own() -> None:
    _, message = assembled(piece("tool_calls", tool_calls=[call(0, id="a", name="add", arguments="{x: 1}")]))
    assert message.calls[0].arguments == "{x: 1}"


def test_stream_without_anything_is_an_error() -> None:
    with pytest.raises(ModelError, match="before anything"):
        assembled()
