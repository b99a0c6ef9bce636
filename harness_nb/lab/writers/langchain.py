"""A conversation as LangChain's `messages_to_dict` gives it, so that `messages_from_dict` takes it.

Nothing of a message is lost: what LangChain has no field for stands under `additional_kwargs["harness_nb"]`, which LangChain
carries along, and arguments that would not come back as they were written stand under `additional_kwargs["tool_calls"]`, as
LangChain itself keeps them for OpenAI's models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.records import message_to_record
from harness_nb.core.transcript import Transcript
from harness_nb.lab.readers.langchain import OURS, calls_of
from harness_nb.lab.writers.document import array
from harness_nb.lab.writers.losses import Losses

_KINDS = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}


def written(transcript: Transcript, losses: Losses) -> Iterator[str]:
    """The text of the file."""
    if transcript.model:
        losses.left_out("the name of the model")
    return array(to_langchain(message) for message in transcript)


def to_langchain(message: Message) -> dict[str, Any]:
    """A message as `{"type": ..., "data": {...}}`."""
    wire = message.to_openai()
    kind = _KINDS[message.role]
    data: dict[str, Any] = {
        "content": "" if message.content is None else wire["content"],
        "additional_kwargs": {},
        "response_metadata": {"finish_reason": message.finish} if message.finish else {},
        "type": kind,
        "name": message.name,
        "id": None,
    }
    if kind == "ai":
        data |= _of_an_answer(message)
        if calls_of(data) != message.calls:
            data["additional_kwargs"]["tool_calls"] = wire["tool_calls"]
    elif kind == "tool":
        data |= {"tool_call_id": message.call_id or "", "status": "error" if _failed(message) else "success"}
    data["additional_kwargs"][OURS] = _ours(message, wire)
    return {"type": kind, "data": data}


def _of_an_answer(message: Message) -> dict[str, Any]:
    parsed = [(call, call.parsed()) for call in message.calls]
    usage = message.usage
    return {
        "tool_calls": [_call(call, found, "tool_call") for call, found in parsed if found is not None],
        "invalid_tool_calls": [
            _call(call, call.arguments, "invalid_tool_call") | {"error": None}
            for call, found in parsed
            if found is None
        ],
        "usage_metadata": usage
        and {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "input_token_details": {"cache_read": usage.cached_tokens},
        },
    }


def _call(call: ToolCall, arguments: Any, kind: str) -> dict[str, Any]:
    return {"name": call.name, "args": arguments, "id": call.id, "type": kind}


def _failed(message: Message) -> bool:
    return message.status in ("error", "denied", "interrupted")


def _ours(message: Message, wire: dict[str, Any]) -> dict[str, Any]:
    """What LangChain has no field for."""
    ours = message_to_record(message)
    del ours["message"]
    if message.content is None:
        ours["no_content"] = "null" if "content" in wire else "omitted"
    if beside := {key: value for key, value in wire.items() if not _has_field(message, key, value)}:
        ours["wire"] = beside
    return ours


def _has_field(message: Message, key: str, value: Any) -> bool:
    """Whether LangChain has a field for a field of OpenAI's format."""
    if key == "tool_calls":
        return message.role == "assistant" and bool(message.calls)
    if key == "tool_call_id":
        return message.role == "tool" and value == message.call_id
    return key == "content" or (key in ("role", "name") and value == getattr(message, key))
