"""Messages of LangChain: as `messages_to_dict` gives them, as `dumps` or `dumpd` serialise them, and as they dump themselves.

The three forms are `{"type": "human", "data": {...}}`, `{"lc": 1, "type": "constructor", "id": [...], "kwargs": {...}}`
and `{"type": "human", "content": ..., "additional_kwargs": ...}`. Read are a list of these, an object with the list
under `messages` (the state of a LangGraph agent, also under `values` or `kwargs`), and one message a line. Source:
LangChain's reference of `langchain_core.messages` and `langchain_core.load`; tried on what langchain-core 1.8 wrote.

Messages that our writer made carry what LangChain has no place for under `additional_kwargs["harness_nb"]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness_nb.core.messages import Message, Part, Role, ToolCall, Usage
from harness_nb.core.records import message_from_record
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, count, parts, reasoning, tool_call

NAME = "LangChain"

OURS = "harness_nb"
"""Key under which our writer keeps what LangChain has no place for."""

_ROLES: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "chat": "user"}
_OTHERS = {"function", "remove"}
_FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "STOP": "stop"}
_CALL_BLOCKS = {"tool_call", "invalid_tool_call", "tool_call_chunk", "server_tool_call", "input_json_delta"}


def claims(value: Any) -> bool:
    """True for a message in one of the three forms, and for a list of such."""
    messages = _messages(value)
    return _unwrapped(value) is not None or any(_unwrapped(one) is not None for one in messages or ())


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages; a line that holds a list begins a new conversation."""
    for line in lines:
        messages = _messages(line.value)
        if messages is None or _unwrapped(line.value) is not None:
            yield _said(line.place, line.value)
            continue
        yield Begins(line.place)
        for number, wire in enumerate(messages, start=1):
            yield _said(Place(line.place.line, number), wire)


def from_langchain(kind: str, wire: Mapping[str, Any]) -> Message:
    """A message from LangChain's fields.

    Args:
        kind: The type without `Chunk`: `human`, `ai`, `system`, `tool` or `chat`.
        wire: The fields of the message.

    Raises:
        MessageError: A field is not as LangChain writes it; other errors of `UNREADABLE` say the same.
    """
    beside = wire.get("additional_kwargs") or {}
    ours = beside.get(OURS)
    if isinstance(ours, Mapping):
        return _our_message(kind, wire, ours)
    content = wire["content"]
    role = _ROLES[kind]
    if role == "tool":
        status = "error" if wire.get("status") == "error" else ""
        return Message.tool(str(wire["tool_call_id"]), _content(content), name=wire.get("name"), status=status)
    name = wire.get("name") or (wire.get("role") if kind == "chat" else None)
    said = _content(content, str(beside.get("reasoning_content") or ""))
    if role != "assistant":
        return Message(role, said, name=name)
    return Message("assistant", said or None, calls=calls_of(wire), name=name, usage=_usage(wire), finish=_finish(wire))


def calls_of(wire: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message, as the provider gave them where they are still beside it, and the parsed ones otherwise."""
    listed = wire.get("tool_calls") or ()
    spoilt = wire.get("invalid_tool_calls") or ()
    raw = (wire.get("additional_kwargs") or {}).get("tool_calls") or ()
    exact = Message.from_openai({"role": "assistant", "tool_calls": list(raw)}).calls
    if exact and Counter(call.id for call in exact) == Counter(str(one.get("id") or "") for one in (*listed, *spoilt)):
        return exact
    return tuple(tool_call(one.get("id") or "", one.get("name") or "", one.get("args")) for one in (*listed, *spoilt))


def _our_message(kind: str, wire: Mapping[str, Any], ours: Mapping[str, Any]) -> Message:
    """A message that our writer made, exactly as it was."""
    made = Message("assistant", calls=calls_of(wire)).to_openai() | {"role": _ROLES[kind], "content": wire["content"]}
    made |= {key: wire[key] for key in ("name", "tool_call_id") if wire.get(key) is not None}
    if not wire["content"] and "no_content" in ours:
        made["content"] = None
        if ours["no_content"] == "omitted":
            del made["content"]
    return message_from_record({**ours, "message": made | dict(ours.get("wire") or {})})


def _said(place: Place, value: Any) -> Entry:
    unwrapped = _unwrapped(value)
    if unwrapped is None:
        return Skipped(place, "a value that is no message of LangChain")
    kind, wire = unwrapped
    if kind in _OTHERS:
        return Skipped(place, f"a message of the type {kind!r}, which says nothing by itself")
    try:
        message = from_langchain(kind, wire)
        about = wire.get("response_metadata") or {}
        model = about.get("model_name") or about.get("model")
    except UNREADABLE:
        return Skipped(place, "a message that is not as LangChain writes it")
    return Said(place, message, model if isinstance(model, str) and message.role == "assistant" else "")


def _unwrapped(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """The type of a message and its fields; None for anything else."""
    if not isinstance(value, Mapping):
        return None
    kind, fields = value.get("type"), value.get("data")
    if kind == "constructor" and "lc" in value:
        fields = value.get("kwargs")
        kind = fields.get("type") if isinstance(fields, Mapping) else None
    elif not isinstance(fields, Mapping):
        fields = value if "additional_kwargs" in value or kind in ("human", "ai") else None
    if not isinstance(kind, str) or not isinstance(fields, Mapping) or "content" not in fields:
        return None
    kind = kind.removesuffix("MessageChunk").lower()
    return (kind, fields) if kind in _ROLES or kind in _OTHERS else None


def _messages(value: Any) -> list[Any] | None:
    """The list of messages in a value: itself, or that of a state or prompt."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    holders = (value, value.get("values"), value.get("kwargs"))
    found = (one["messages"] for one in holders if isinstance(one, Mapping) and isinstance(one.get("messages"), list))
    return next(found, None)


def _content(content: Any, thought: str = "") -> str | tuple[Part, ...]:
    """A content; calls are listed beside it, so their blocks are passed over."""
    if isinstance(content, str) and not thought:
        return content
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
    shown = [{"type": "text", "text": one} if isinstance(one, str) else _block(one) for one in blocks]
    found = parts([one for one in shown if one.get("type") not in _CALL_BLOCKS])
    return as_content((reasoning(thought), *found) if thought else found)


def _block(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block; one with a model's reasoning gets that as its text."""
    if block.get("type") == "reasoning" and isinstance(block.get("reasoning"), str):
        return {**block, "text": block["reasoning"]}
    return block


def _usage(wire: Mapping[str, Any]) -> Usage | None:
    """Usage; LangChain counts the cached part of the prompt among the input."""
    given = wire.get("usage_metadata")
    if not isinstance(given, Mapping):
        return None
    details = given.get("input_token_details")
    usage = Usage(
        input_tokens=count(given, "input_tokens"),
        output_tokens=count(given, "output_tokens"),
        cached_tokens=count(details, "cache_read") if isinstance(details, Mapping) else 0,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _finish(wire: Mapping[str, Any]) -> str:
    about = wire.get("response_metadata") or {}
    finish = str(about.get("finish_reason") or about.get("stop_reason") or "")
    return _FINISH.get(finish, finish)
