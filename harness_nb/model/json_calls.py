"""Tool calls for models that can't make them: a JSON schema admits a call or an answer, and its text is read as such."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from harness_nb.core.messages import Message, ToolCall, to_json
from harness_nb.core.tool import Tool
from harness_nb.errors import ModelError

_ANSWER = re.compile(r'^\s*\{\s*"answer"\s*:\s*"')
_BODY = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")


def response_format(tools: Iterable[Tool]) -> dict[str, Any]:
    """The `response_format` that admits a call of one of the tools or an answer, nothing else."""
    choices = [_object({"tool": {"const": tool.name}, "arguments": tool.parameters}) for tool in tools]
    choices.append(_object({"answer": {"type": "string"}}))  # without tools the only choice
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": {"anyOf": choices}}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def rounds_of_turn(messages: Sequence[Message]) -> int:
    """How many rounds of tool calls there are since the user last said something."""
    count = 0
    for message in reversed(messages):
        if message.role == "user" and message.origin == "user":
            break
        count += bool(message.calls)
    return count


def with_instructions(messages: Sequence[Message], tools: Iterable[Tool]) -> tuple[Message, ...]:
    """The model input with the tools described in the system prompt, and calls and results as plain texts."""
    lines = "\n".join(
        f"- {tool.name}({', '.join(tool.parameters.get('properties', {}))}): {tool.description}" for tool in tools
    )
    told = (
        f"You have these tools:\n{lines}\n"
        'Reply with JSON: {"tool": name, "arguments": {...}} to call a tool, or {"answer": text} to answer.'
    )
    first = messages[0] if messages and messages[0].role == "system" else None
    system = Message.system(f"{first.text}\n\n{told}" if first else told)
    return (system, *without_calls(messages[1 if first else 0 :]))


def without_calls(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Calls as the JSON texts that they were made of, results as what the user says, neighbours of a role joined."""
    names: dict[str, str] = {}
    spoken: list[Message] = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        said = _spoken(message, names)
        if (
            spoken
            and said.role == spoken[-1].role != "system"
            and (message.role == "tool" or spoken[-1].origin == "tool")
        ):
            spoken[-1] = Message(said.role, f"{spoken[-1].text}\n{said.text}", origin=said.origin)
        else:
            spoken.append(said)
    return tuple(spoken)


def _spoken(message: Message, names: dict[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.call_id or "", message.name or "tool")
        return Message("user", f"[{name} returned] {message.text}", origin="tool")
    if not message.calls:
        return message
    calls = [to_json({"tool": call.name, "arguments": call.parsed() or {}}) for call in message.calls]
    return Message.assistant("\n".join(filter(None, (message.text, *calls))))


def answer_so_far(text: str) -> str:
    """The part of an answer that a JSON text has brought until now; empty while it is none."""
    start = _ANSWER.match(text)
    if start is None:
        return ""
    body = _BODY.match(text, start.end())
    raw = _HALF_PAIR.sub("", body.group()) if body else ""
    found = json.loads(f'"{raw}"', strict=False)
    return found if isinstance(found, str) else ""


def reply_of(text: str, call_id: str) -> str | ToolCall:
    """What a complete JSON text says: an answer, or a call. A text that is neither is an answer as it stands.

    Raises:
        ModelError: The text ended inside a call.
    """
    if _ANSWER.match(text):
        return answer_so_far(text)
    try:
        value = json.loads(text)
    except ValueError as error:
        if text.lstrip().startswith("{"):
            raise ModelError(
                "The local model's reply ended inside a tool call.",
                "Allow a longer reply; the call was neither kept nor run.",
            ) from error
        return text
    if isinstance(value, dict) and isinstance(value.get("tool"), str):
        return ToolCall(call_id, value["tool"], to_json(value.get("arguments") or {}))
    return text
