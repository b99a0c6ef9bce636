"""Conversations in the form of ShareGPT: `{"conversations": [{"from": "human", "value": "..."}, ...]}`.

Read are one such object, a list of them, and one a line. Beside `human`, `gpt` and `system` the names that data sets for
tool use have are known: `function_call` (a call or a list of calls as JSON), `observation` (a result). `system` may stand
beside the list. Sources: the data of the ShareGPT page as published on Hugging Face, and the description of the format in
LLaMA-Factory (github.com/hiyouga/LLaMA-Factory, `data/README.md`).

Calls have no ids there: they are numbered, and results answer them in order.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness_nb.core.messages import Message, Role, ToolCall
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, Place, Said, Skipped
from harness_nb.lab.readers.blocks import tool_call

NAME = "ShareGPT"

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "system": "system",
}
_CALLS = ("function_call", "tool_call")
_RESULTS = ("observation", "tool", "tool_response", "function_response")


def claims(value: Any) -> bool:
    """True for a conversation with `from` and `value`, and for a list of such."""
    return any(_is_turn(one) for held in _held(value) for one in held["conversations"])


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages of each conversation."""
    for line in lines:
        held = _held(line.value)
        if not held:
            yield Skipped(line.place, "a value that is no conversation")
        for one in held:
            yield Begins(line.place)
            yield from _conversation(line.place, one)


def _conversation(place: Place, value: Mapping[str, Any]) -> Iterator[Entry]:
    system = value.get("system")
    if isinstance(system, str) and system.strip():
        yield Said(place, Message.system(system))
    waiting: deque[ToolCall] = deque()
    made = 0
    for number, turn in enumerate(value["conversations"], start=1):
        here = Place(place.line, number)
        try:
            message = _message(turn, made, waiting)
        except UNREADABLE:
            yield Skipped(here, "a message that is not in the form of ShareGPT")
            continue
        made += len(message.calls)
        waiting.extend(message.calls)
        yield Said(here, message)


def _message(turn: Mapping[str, Any], made: int, waiting: deque[ToolCall]) -> Message:
    """A message; a result answers the first call that waits for one."""
    speaker, text = turn["from"], turn["value"]
    if not isinstance(text, str):
        raise TypeError("value")
    if speaker in _CALLS:
        asked = json.loads(text)
        calls = enumerate(asked if isinstance(asked, list) else [asked], start=made + 1)
        return Message.assistant(
            calls=[tool_call(f"call_{at}", one["name"], one.get("arguments")) for at, one in calls]
        )
    if speaker in _RESULTS:
        call = waiting.popleft() if waiting else ToolCall("", "")
        return Message.tool(call.id, text, name=call.name or None)
    return Message(_ROLES[speaker], text)


def _held(value: Any) -> list[Mapping[str, Any]]:
    """The conversations in a value: itself, or its members."""
    members = value if isinstance(value, list) else [value]
    return [one for one in members if isinstance(one, Mapping) and isinstance(one.get("conversations"), list)]


def _is_turn(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("from"), str) and "value" in value
