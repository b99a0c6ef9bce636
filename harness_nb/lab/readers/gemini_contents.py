"""Messages in the form of the Gemini API, `{"role": "user" | "model", "parts": [...]}`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness_nb.core.messages import Message, Part, Text, ToolCall, part_from_openai, to_json
from harness_nb.lab.entries import UNREADABLE, Entry, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, file_of, reasoning, tool_call, words


def is_content(value: Any) -> bool:
    """True for one message of the API."""
    return (
        isinstance(value, Mapping) and value.get("role") in ("user", "model") and isinstance(value.get("parts"), list)
    )


def parts_of(content: Any) -> Iterator[Part]:
    """The parts of a text, a part or a list of these. Of a result its output is a part; calls are passed over."""
    if isinstance(content, str):
        yield Text(content)
    elif isinstance(content, Mapping):
        yield from _part(content)
    else:
        for one in content:
            yield from parts_of(one)


def said_in_contents(place: Place, contents: Sequence[Any]) -> Iterator[Entry]:
    """What a list of messages says. A call without an id gets one, and the next result of its tool is taken for its own."""
    open_calls: deque[ToolCall] = deque()
    made = 0
    for number, content in enumerate(contents, start=1):
        here = Place(place.line, number)
        try:
            messages = [*_answers(content, open_calls)] or [_message(content, made)]
        except UNREADABLE:
            yield Skipped(here, "a message that is not in the form of the Gemini API")
            continue
        for message in messages:
            made += len(message.calls)
            open_calls.extend(message.calls)
            yield Said(here, message)


def _part(part: Mapping[str, Any]) -> Iterator[Part]:
    if "functionCall" in part:
        return
    if "functionResponse" in part:
        yield from _output(part["functionResponse"])
    elif "text" in part:
        yield reasoning(part["text"], _beside(part)) if part.get("thought") else words(part["text"])
    elif "inlineData" in part:
        inline = part["inlineData"]
        yield file_of(inline["mimeType"], f"data:{inline['mimeType']};base64,{inline['data']}")
    elif "fileData" in part:
        yield file_of(str(part["fileData"].get("mimeType") or ""), part["fileData"]["fileUri"])
    else:
        yield part_from_openai(part)


def _beside(part: Mapping[str, Any]) -> dict[str, Any]:
    """The signature of a thought, which the API wants back."""
    return {key: part[key] for key in ("thoughtSignature",) if key in part}


def _output(response: Mapping[str, Any]) -> Iterator[Part]:
    """The text of a result, and files that came with it."""
    value = response.get("response")
    text = (
        next((value[key] for key in ("output", "error") if key in value), value)
        if isinstance(value, Mapping)
        else value
    )
    yield Text(text if isinstance(text, str) else to_json(text))
    for one in response.get("parts") or ():
        yield from parts_of(one)


def divided(parts: Sequence[Any]) -> tuple[list[Mapping[str, Any]], list[Any]]:
    """The results among the parts of a message, and the other parts."""
    found = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return found, [part for part in parts if "functionResponse" not in part]


def answered(response: Mapping[str, Any], open_calls: deque[ToolCall]) -> ToolCall | None:
    """The call that a result answers, which is open no longer: the one of its id, or the first of its tool."""
    name = response["name"]
    call = next((one for one in open_calls if response.get("id", one.id) == one.id and one.name == name), None)
    if call is not None:
        open_calls.remove(call)
    return call


def result_of(response: Mapping[str, Any], call_id: str) -> Message:
    """A result as a message."""
    value = response.get("response")
    failed = isinstance(value, Mapping) and "error" in value and "output" not in value
    content = as_content(tuple(_output(response)))
    return Message.tool(call_id, content, name=str(response["name"]), status="error" if failed else "")


def _answers(content: Mapping[str, Any], open_calls: deque[ToolCall]) -> list[Message]:
    """The results in a message of the user's and what else it says, or nothing where there is no result."""
    if content["role"] != "user":
        return []
    found, others = divided(content["parts"])
    messages = []
    for one in found:
        call = answered(one, open_calls)
        messages.append(result_of(one, call.id if call else str(one.get("id") or one["name"])))
    return [*messages, Message.user(as_content(tuple(parts_of(others))))] if messages and others else messages


def _message(content: Mapping[str, Any], made: int) -> Message:
    """A message without results; `made` calls were made before it."""
    found = tuple(parts_of(content["parts"]))
    if content["role"] == "user":
        return Message.user(as_content(found))
    asked = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    calls = tuple(
        tool_call(one.get("id") or f"call_{number}", one["name"], one.get("args"))
        for number, one in enumerate(asked, start=made + 1)
    )
    return Message("assistant", as_content(found) if found else None, calls=calls)
