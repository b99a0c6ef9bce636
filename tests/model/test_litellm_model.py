"""The adapter against a real HTTP server on a loopback port that streams what a test tells it to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.errors import ContextOverflowError, MissingKeyError, ModelError, QuotaError, RateLimitError
from harness_nb.model.base import CallDelta, TextDelta, ThinkingDelta
from harness_nb.model.litellm_model import OFFLINE_VARIABLE, LiteLLMModel, is_loopback
from tests.model.asking import TOOLS, ask, request, stream


class Server(ThreadingHTTPServer):
    """Answers each request with a status and either a list of streamed pieces or a body; keeps what it was sent."""

    daemon_threads = True
    status = 200
    answer: Any = ()
    breaks = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[dict[str, Any]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away early is no error here."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body))
        self.send_response(self.server.status)
        is_stream = self.server.status == 200
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Connection", "close")
        if self.server.breaks:
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        if not is_stream:
            self.wfile.write(json.dumps(self.server.answer).encode())
            return
        for piece in self.server.answer:
            self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.flush()
        if not self.server.breaks:
            self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def model(server: Server) -> LiteLLMModel:
    return LiteLLMModel("openai/my-model", api_base=server.address, window=10_000, temperature=0.5)


def piece(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "my-model",
        "choices": choices,
        **fields,
    }


USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "total_tokens": 25,
    "prompt_tokens_details": {"cached_tokens": 16},
}
FUNCTION = {"name": "add", "arguments": '{"a": 1'}


def test_answer_is_streamed_with_usage(server: Server, model: LiteLLMModel) -> None:
    server.answer = [
        piece({"role": "assistant", "content": "Hel"}),
        piece({"content": "lo"}),
        piece({}, "stop"),
        piece(usage=USAGE),
    ]
    *deltas, message = stream(model, Message.system("Be brief."), "Hi", max_tokens=50)
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["Hel", "lo"]
    assert isinstance(message, Message)
    assert (message.text, message.finish, message.usage) == ("Hello", "stop", Usage(20, 5, 16))
    (sent,) = server.received
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert (sent["temperature"], sent["max_tokens"], sent["stream_options"]) == (0.5, 50, {"include_usage": True})


def test_tool_call_is_put_together(server: Server, model: LiteLLMModel) -> None:
    server.answer = [
        piece(
            {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": FUNCTION}]}
        ),
        piece({"tool_calls": [{"index": 0, "function": {"arguments": ', "b": 2}'}}]}),
        piece({}, "tool_calls"),
    ]
    *deltas, message = stream(model, "Add.", tools=TOOLS)
    assert isinstance(message, Message)
    assert message.calls == (ToolCall("c1", "add", '{"a": 1, "b": 2}'),)
    assert any(isinstance(delta, CallDelta) and delta.name == "add" for delta in deltas)
    assert server.received[0]["tools"][0]["function"]["name"] == "add"


def test_reasoning_is_streamed_and_sent_back(server: Server, model: LiteLLMModel) -> None:
    server.answer = [
        piece({"role": "assistant", "reasoning_content": "Well"}),
        piece({"content": "Yes"}),
        piece({}, "stop"),
    ]
    *deltas, message = stream(model, "Is it?")
    assert ThinkingDelta("Well") in deltas
    assert isinstance(message, Message)
    ask(model, "Is it?", message, "Sure?")
    assert server.received[1]["messages"][1]["reasoning_content"] == "Well"


def test_r098_call_whose_connection_breaks_is_no_message(server: Server, model: LiteLLMModel) -> None:
    server.answer = [
        piece({"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": FUNCTION}]})
    ]
    server.breaks = True
    with pytest.raises(ModelError):
        ask(model, "Add.", tools=TOOLS)


def test_r098_call_whose_stream_ends_early_is_no_message(server: Server, model: LiteLLMModel) -> None:
    server.answer = [
        piece({"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": FUNCTION}]})
    ]
    with pytest.raises(ModelError, match="before a finish_reason"):
        ask(model, "Add.", tools=TOOLS)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"}, ContextOverflowError),
        (400, {"message": "Please adjust it.", "code": "context_length_exceeded"}, ContextOverflowError),
        (400, {"message": "prompt tokens (130000) exceed model maximum (128000)", "type": "validation_error"}, ContextOverflowError),
        (500, {"message": "Context size has been exceeded.", "type": "server_error"}, ContextOverflowError),
        (429, {"message": "on tokens per min (TPM): Limit 30000, Requested 35120.", "code": "rate_limit_exceeded"}, RateLimitError),
        (413, {"message": "on tokens per minute (TPM): Limit 6000, Requested 7000, reduce your message size", "code": "rate_limit_exceeded"}, RateLimitError),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, QuotaError),
        (402, {"message": "Payment required"}, QuotaError),
        (400, {"message": "max_tokens is too large: 9", "code": "invalid_value"}, ModelError),
    ],
)  # fmt: skip
def test_r024_refusals_are_told_apart_through_litellm(
    server: Server, model: LiteLLMModel, status: int, error: dict[str, str], kind: type[ModelError]
) -> None:
    server.status, server.answer = status, {"error": error}
    with pytest.raises(ModelError) as caught:
        ask(model, "Hi")
    assert type(caught.value) is kind
    assert caught.value.__cause__ is not None
    assert len(server.received) == 1


def test_nothing_is_printed_on_errors(server: Server, model: LiteLLMModel, capfd: pytest.CaptureFixture[str]) -> None:
    server.status, server.answer = 400, {"error": {"message": "no"}}
    with pytest.raises(ModelError):
        ask(model, "Hi")
    assert capfd.readouterr() == ("", "")


def test_empty_reply_in_a_full_window_is_an_overflow(server: Server, model: LiteLLMModel) -> None:
    server.answer = [piece({"role": "assistant"}), piece({}, "length"), piece(usage=USAGE | {"prompt_tokens": 10_000})]
    with pytest.raises(ContextOverflowError):
        ask(model, "Hi")


def test_stream_left_early_ends_quietly(server: Server, model: LiteLLMModel) -> None:
    server.answer = [piece({"content": f"{number} "}) for number in range(2_000)]

    async def first() -> object:
        pieces = model.stream(request("Count."))
        found = await anext(pieces)
        await pieces.aclose()  # type: ignore[attr-defined]
        return found

    assert isinstance(asyncio.run(first()), TextDelta)


def test_no_request_leaves_the_computer_when_offline(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setenv(OFFLINE_VARIABLE, "1")
    with pytest.raises(ModelError, match=OFFLINE_VARIABLE):
        ask(LiteLLMModel("openai/gpt-4o"), "Hi")
    server.answer = [piece({"content": "Here."}), piece({}, "stop")]
    assert ask(LiteLLMModel("openai/x", api_base=server.address), "Hi").text == "Here."


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-3-opus", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "GEMINI_API_KEY"),
    ],
)
def test_missing_key_names_the_variable(name: str, variable: str) -> None:
    with pytest.raises(MissingKeyError) as caught:
        ask(LiteLLMModel(name), "Hi")
    assert variable in str(caught.value) and "outside the notebook" in str(caught.value)


def test_key_comes_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    model = LiteLLMModel("openai/x", api_base=server.address, api_key_variable="MY_OWN_KEY")
    with pytest.raises(MissingKeyError, match="MY_OWN_KEY"):
        ask(model, "Hi")
    monkeypatch.setenv("MY_OWN_KEY", "sk-test-canary-1234567890")
    server.answer = [piece({"content": "ok"}), piece({}, "stop")]
    assert ask(model, "Hi").text == "ok"
    assert "canary" not in repr(model)


def test_cost_is_known_for_listed_models(server: Server) -> None:
    model = LiteLLMModel("openai/gpt-4o", api_base=server.address)
    server.answer = [piece({"content": "ok"}), piece({}, "stop"), piece(usage=USAGE)]
    usage = ask(model, "Hi").usage
    assert usage is not None and usage.cost is not None and usage.cost > 0


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:80/v1", True),
        ("http://localhost", True),
        ("http://[::1]:5", True),
        ("https://a.example", False),
        (None, False),
    ],
)
def test_loopback_is_this_computer_only(address: str | None, here: bool) -> None:
    assert is_loopback(address) is here
    assert not is_loopback("http://127.0.0.1.example.org")
