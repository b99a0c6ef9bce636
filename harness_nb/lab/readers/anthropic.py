"""Conversations in the format of Anthropic's Messages API.

Read are: a request (`messages`, beside it `system` and `model`), a line of a batch (the request under `params`), a list
of messages or of requests, one message a line, and an answer of the API by itself or under `response` behind its
`request`. Source: the public reference of the API (docs.anthropic.com: Messages, Message Batches, Tool use, Vision,
Extended thinking).

What makes it differ from OpenAI's: calls and results are content blocks, results come in the user's role, the system
prompt stands beside the messages. A request of texts alone is the same in both formats and read as OpenAI's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness_nb.core.messages import Message, Usage
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, ModelNamed, Place, Said, Skipped
from harness_nb.lab.readers.blocks import calls, count, parts, results, text_or_parts

NAME = "Anthropic Messages"

FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "stop_sequence": "stop"}
"""Reasons for the end of an answer, in the words of the rest of the package; others stay as they are."""

_OWN_BLOCKS = {"tool_use", "tool_result", "server_tool_use", "web_search_tool_result", "redacted_thinking"}
_BLOCKS_WITH_SOURCE = {"image", "document"}
_REQUIRED = {"model", "max_tokens"}
_PROMPT = {"system", "messages", "tools"}
_REQUEST_KEYS = ("params", "body", "request")


def claims(value: Any) -> bool:
    """True for an answer of the API, a message with blocks of Anthropic's kind, and a request that has such or `system`."""
    if _is_answer(value) or _has_own_block(value):
        return True
    return any(
        _has_prompt(request) or any(_has_own_block(one) for one in request["messages"]) for request in _requests(value)
    )


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages; a line that holds a request begins a new conversation."""
    names: dict[str, str] = {}
    for line in lines:
        if isinstance(line.value, Mapping) and "role" in line.value:
            yield from _said(line.place, line.value, names)
            continue
        requests = _requests(line.value)
        if not requests:
            yield Skipped(line.place, "a value that is neither a message nor a request")
        for request in requests:
            yield Begins(line.place)
            yield from _conversation(line.place, request)


def _conversation(place: Place, request: Mapping[str, Any]) -> Iterator[Entry]:
    names: dict[str, str] = {}
    if isinstance(request.get("model"), str):
        yield ModelNamed(place, request["model"])
    system = request.get("system")
    for text in system if isinstance(system, list) else [system] if system else []:
        yield from _said(
            Place(place.line), {"role": "system", "content": text if isinstance(text, str) else [text]}, names
        )
    for number, wire in enumerate(request["messages"], start=1):
        yield from _said(Place(place.line, number), wire, names)


def _said(place: Place, wire: Any, names: dict[str, str]) -> Iterator[Entry]:
    """The messages of one; the names of the tools it calls are remembered for their results."""
    try:
        messages = list(_messages(wire, names))
    except UNREADABLE:
        yield Skipped(place, "a message that is not in the format of Anthropic's API")
        return
    model = wire.get("model")
    for message in messages:
        names.update({call.id: call.name for call in message.calls})
        yield Said(place, message, model if isinstance(model, str) and message.role == "assistant" else "")


def _messages(wire: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Message]:
    """What one message says: results first, then all else. One in OpenAI's format is read as that."""
    if "tool_calls" in wire or wire["role"] == "tool":
        yield Message.from_openai(wire)
        return
    content = wire["content"]
    if not isinstance(content, str | list):
        raise TypeError("content")
    if wire["role"] == "assistant":
        yield _answer(wire)
        return
    answered = list(results(content, names))
    yield from answered
    said = text_or_parts(content)
    if said or not answered:
        yield Message(wire["role"], said)


def _answer(wire: Mapping[str, Any]) -> Message:
    content = wire["content"]
    finish = str(wire.get("stop_reason") or "")
    return Message(
        "assistant",
        text_or_parts(content) if parts(content) else None,
        calls=calls(content),
        usage=usage(wire.get("usage")),
        finish=FINISH.get(finish, finish),
    )


def usage(wire: Any) -> Usage | None:
    """What the API reported, the whole prompt as input; None where it reported nothing."""
    if not isinstance(wire, Mapping):
        return None
    found = Usage(
        input_tokens=count(wire, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        output_tokens=count(wire, "output_tokens"),
        cached_tokens=count(wire, "cache_read_input_tokens"),
    )
    return found if found.input_tokens or found.output_tokens else None


def _has_prompt(request: Mapping[str, Any]) -> bool:
    """Whether a system prompt stands beside the messages: with what every request must have, or with nothing else."""
    return "system" in request and (not _REQUIRED.isdisjoint(request) or request.keys() <= _PROMPT)


def _requests(value: Any) -> list[Mapping[str, Any]]:
    """The requests in a value: itself, a list of messages as one, or those of its members."""
    own = _request(value)
    if own is not None:
        return [own]
    members = (_request(one) for one in value) if isinstance(value, list) else ()
    return [found for found in members if found is not None]


def _request(value: Any) -> Mapping[str, Any] | None:
    """A value as one request; the answer that stands beside it is its last message."""
    if isinstance(value, list) and any(isinstance(one, Mapping) and "role" in one for one in value):
        return {"messages": value}
    if not isinstance(value, Mapping):
        return None
    for found in (*(value.get(key) for key in _REQUEST_KEYS), value):
        if isinstance(found, Mapping) and isinstance(found.get("messages"), list):
            answer = value.get("response")
            return {**found, "messages": [*found["messages"], answer]} if _is_answer(answer) else found
    return None


def _is_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "message" and value.get("role") == "assistant"


def _has_own_block(value: Any) -> bool:
    """Whether a value is a message with a block that only this format has."""
    if not isinstance(value, Mapping) or value.get("role") not in ("user", "assistant", "system"):
        return False
    content = value.get("content")
    blocks = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return any(
        one.get("type") in _OWN_BLOCKS
        or (one.get("type") in _BLOCKS_WITH_SOURCE and isinstance(one.get("source"), Mapping))
        for one in blocks
        if isinstance(one.get("type"), str)
    )
