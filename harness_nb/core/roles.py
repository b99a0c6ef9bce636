"""Turns for targets whose roles must alternate: neighbours of one role are sent as one message, divided visibly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from harness_nb.core.messages import Message, Part, Text, to_json

DIVIDER = "\n\n---\n\n"
"""Stands between two messages that are sent as one."""


def repeats(messages: Sequence[Message]) -> tuple[int, ...]:
    """Positions of messages that have the role of the one before; none when roles alternate. Results may repeat."""
    return tuple(at for at in range(1, len(messages)) if _joins(messages[at - 1], messages[at]))


def alternating(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with neighbours of one role joined, each with its own text word for word.

    For what is sent only: the log and the model input keep their messages apart.
    """
    joined: list[Message] = []
    for message in messages:
        if joined and _joins(joined[-1], message):
            joined[-1] = _join(joined[-1], message)
        else:
            joined.append(message)
    return tuple(joined)


def _joins(first: Message, second: Message) -> bool:
    return first.role == second.role != "tool" and not first.calls


def _join(first: Message, second: Message) -> Message:
    return replace(
        second,
        content=_contents(first, second),
        origin="user" if "user" in (first.origin, second.origin) else second.origin,
        rest=to_json(json.loads(first.rest or "{}") | json.loads(second.rest or "{}"))
        if first.rest and second.rest
        else first.rest or second.rest,
    )


def _contents(first: Message, second: Message) -> str | tuple[Part, ...] | None:
    if not first.parts or not second.parts:
        return first.content if first.parts else second.content
    if isinstance(first.content, str) and isinstance(second.content, str):
        return f"{first.content}{DIVIDER}{second.content}"
    return (*first.parts, Text(DIVIDER.strip()), *second.parts)
