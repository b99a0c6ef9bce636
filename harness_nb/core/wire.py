"""The list as it is sent to a model whose roles must alternate: neighbours of one role become one message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness_nb.core.messages import Message, Part, Text, to_json

DIVIDER = "\n\n---\n\n"
"""Stands between two messages that are sent as one."""


def repeats(messages: Sequence[Message]) -> tuple[int, ...]:
    """Positions of messages that have the role of the one before them; none when roles alternate. Results may repeat."""
    return tuple(at for at in range(1, len(messages)) if _joins(messages[at - 1], messages[at]))


def alternating(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Joins neighbours of one role, visibly divided, each with its own text word for word.

    For what is sent only: the log and the model input keep their messages apart.
    """
    joined: list[Message] = []
    for message in messages:
        if joined and _joins(joined[-1], message):
            joined[-1] = _together(joined[-1], message)
        else:
            joined.append(message)
    return tuple(joined)


def _joins(first: Message, second: Message) -> bool:
    return first.role == second.role != "tool" and not first.calls


def _together(first: Message, second: Message) -> Message:
    rest = json.loads(first.rest or "{}") | json.loads(second.rest or "{}")
    origin = "user" if "user" in (first.origin, second.origin) else second.origin
    return replace(second, content=_contents(first, second), origin=origin, rest=to_json(rest) if rest else "")


def _contents(first: Message, second: Message) -> str | tuple[Part, ...] | None:
    if not first.parts or not second.parts:
        return first.content if first.parts else second.content
    if isinstance(first.content, str) and isinstance(second.content, str):
        return f"{first.content}{DIVIDER}{second.content}"
    return (*first.parts, Text(DIVIDER), *second.parts)
