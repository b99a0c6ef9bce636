from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.errors import ConfigError, ContextOverflowError, ModelError
from harness_nb.model.base import CallDelta, ModelRequest, TextDelta
from harness_nb.model.scripted import Broken, ScriptedModel
from tests.model.asking import ask, request, stream

CALL = ToolCall("c1", "add", '{"a": 1, "b": 2}')


def test_replies_are_played_in_order_and_requests_are_recorded() -> None:
    model = ScriptedModel(["one", CALL, [CALL, ToolCall("c2", "add")], Message.assistant("four", finish="length")])
    replies = [ask(model, f"question {number}") for number in range(4)]
    assert [reply.text for reply in replies] == ["one", "", "", "four"]
    assert [len(reply.calls) for reply in replies] == [0, 1, 2, 0]
    assert [reply.finish for reply in replies] == ["stop", "tool_calls", "tool_calls", "length"]
    assert [one.messages[-1].text for one in model.requests] == [f"question {number}" for number in range(4)]


def test_pieces_joined_are_the_reply() -> None:
    pieces = stream(ScriptedModel([Message.assistant("a longer text", [CALL])], piece_chars=4), "x")
    texts = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    calls = [piece for piece in pieces if isinstance(piece, CallDelta)]
    assert texts == ["a lo", "nger", " tex", "t"]
    assert calls[0].name == "add" and "".join(piece.arguments for piece in calls) == CALL.arguments
    assert isinstance(pieces[-1], Message)


def test_own_error_is_raised_as_it_is() -> None:
    error = ContextOverflowError("too long")
    with pytest.raises(ContextOverflowError) as caught:
        ask(ScriptedModel([error]), "x")
    assert caught.value is error


def test_foreign_error_is_raised_as_what_it_means() -> None:
    error = ValueError("prompt is too long: 9 tokens > 8 maximum")
    with pytest.raises(ContextOverflowError) as caught:
        ask(ScriptedModel([error]), "x")
    assert caught.value.__cause__ is error


def test_interrupt_is_raised_as_it_is() -> None:
    async def interrupted() -> None:
        async for _ in ScriptedModel([asyncio.CancelledError()]).stream(request("x")):
            pass

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())


def test_r098_broken_stream_yields_pieces_but_no_message() -> None:
    model = ScriptedModel([Broken("half a text", TimeoutError("gone"), ToolCall("c", "add", '{"a": 1'))], piece_chars=5)
    seen = []

    async def collect() -> None:
        async for piece in model.stream(request("x")):
            seen.append(piece)

    with pytest.raises(ModelError, match="gone"):
        asyncio.run(collect())
    assert "".join(piece.text for piece in seen if isinstance(piece, TextDelta)) == "half a text"
    assert "".join(piece.arguments for piece in seen if isinstance(piece, CallDelta)) == '{"a": 1'
    assert not any(isinstance(piece, Message) for piece in seen)


def test_lists_by_purpose_do_not_disturb_each_other() -> None:
    model = ScriptedModel(["rest"], chat=["one", "two"], summary=["sum"], purposes={"audit": ["fine"]})
    assert ask(model, "x").text == "one"
    assert ask(model, "x", purpose="summary").text == "sum"
    assert ask(model, "x", purpose="audit").text == "fine"
    assert ask(model, "x", purpose="flush").text == "rest"
    assert ask(model, "x").text == "two"


def test_purpose_without_any_list_is_answered_by_the_offline_model() -> None:
    model = ScriptedModel(chat=["one"])
    assert ask(model, "Hello there.", purpose="flush").text == "NO_REPLY"
    assert len(model.requests) == 1


def test_function_answers_from_the_request() -> None:
    async def later(asked: ModelRequest) -> str:
        await asyncio.sleep(0)
        return asked.messages[-1].text.upper()

    model = ScriptedModel([lambda asked: f"{len(asked.messages)} messages", later])
    assert ask(model, "x").text == "1 messages"
    assert ask(model, "x").text == "X"


def test_end_of_the_script_is_a_clear_error() -> None:
    model = ScriptedModel(summary=["one"])
    ask(model, "x", purpose="summary")
    with pytest.raises(ModelError, match="1 replies for 'summary'.*\n.*repeat_last"):
        ask(model, "x", purpose="summary")


def test_last_reply_is_repeated_on_wish() -> None:
    model = ScriptedModel(["one", "two"], repeat_last=True)
    assert [ask(model, "x").text for _ in range(4)] == ["one", "two", "two", "two"]


def test_usage_is_reported_only_on_wish_and_never_replaced() -> None:
    own = Message.assistant("a", usage=Usage(7, 8))
    assert ask(ScriptedModel(["a"]), "x").usage is None
    assert ask(ScriptedModel(["abcde", own], reports_usage=True), "12345678").usage == Usage(2, 2, cost=0.0)
    assert ask(ScriptedModel([own], reports_usage=True), "x").usage == Usage(7, 8)


def test_delay_holds_up_each_piece() -> None:
    import time

    started = time.perf_counter()
    ask(ScriptedModel(["12345678"], piece_chars=4, delay_seconds=0.01), "x")
    assert time.perf_counter() - started >= 0.03


@pytest.mark.parametrize("settings", [{"piece_chars": 0}, {"delay_seconds": -1}, {"window": 0}, {"replies": "text"}])
def test_bad_setting_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        ScriptedModel(**settings)  # type: ignore[arg-type]


def test_reply_of_a_wrong_kind_is_refused() -> None:
    with pytest.raises(ModelError, match="42"):
        ask(ScriptedModel([42]), "x")  # type: ignore[list-item]


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, harness_nb.model.scripted, harness_nb.model.offline, harness_nb.model.resolve;"
        "assert not {'asyncio', 'litellm', 'tiktoken', 'pandas', 'xllamacpp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
