"""Conversations in OpenAI chat format.

Four shapes are read: a list of messages; an object with the list under `messages` (a request, or a line of a
fine-tuning file) or `traj` (τ-bench); either of these once a line, each line a conversation; and one message a line.
Nothing of a message is lost: fields that are not known are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness_nb.core.messages import Message, Opaque
from harness_nb.errors import MessageError
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, ModelNamed, Place, Said, Skipped

NAME = "OpenAI chat"

_LIST_KEYS = ("messages", "traj")
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_FOREIGN = ("tool_use", "tool_result", "toolCall")
_BODY_KEYS = ("content", "tool_calls", "function_call")


def claims(value: Any) -> bool:
    """True for a message, a conversation or a list of conversations."""
    return _is_message(value) or any(_is_message(one) for messages in _conversations(value) for one in messages)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages; a line that holds a conversation begins a new one."""
    for line in lines:
        if isinstance(line.value, dict) and "role" in line.value:
            yield from _said(line.place, line.value)
            continue
        held = _conversations(line.value)
        if not held:
            yield Skipped(line.place, "a value that is neither a message nor a conversation")
        for messages in held:
            yield Begins(line.place)
            if isinstance(line.value, dict) and isinstance(line.value.get("model"), str):
                yield ModelNamed(line.place, line.value["model"])
            for number, wire in enumerate(messages, start=1):
                yield from _said(Place(line.place.line, number), wire)


def _said(place: Place, wire: Any) -> Iterator[Entry]:
    try:
        message = Message.from_openai(wire)
    except MessageError as error:
        yield Skipped(place, f"what is no message: {error.problem}")
    except UNREADABLE:
        yield Skipped(place, "a message that is not in OpenAI chat format")
    else:
        yield Said(place, message)
        if any(isinstance(part, Opaque) and part.type in _FOREIGN for part in message.parts):
            yield Skipped(
                place, "calls or results in another provider's format: kept in the message, not read as calls"
            )


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return value["role"] in _ROLES and any(key in value for key in _BODY_KEYS)


def _conversations(value: Any) -> list[list[Any]]:
    """The lists of messages in a value: itself, that under a known key, or those of its members."""
    own = _messages(value)
    if own is not None:
        return [own]
    members = (_messages(one) for one in value) if isinstance(value, list) else ()
    return [found for found in members if found is not None]


def _messages(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
    if isinstance(value, list) and any(isinstance(one, dict) and "role" in one for one in value):
        return value
    return None
