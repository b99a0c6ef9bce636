"""The list as it is sent: system texts joined, turns merged where a model needs the roles to alternate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness_nb.core.messages import Message, Text

DIVIDER = "\n\n---\n\n"
"""Stands between two messages that are sent as one."""


def alternating(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Joins neighbouring messages of the user's role into one, visibly divided, each text word for word."""
    joined: list[Message] = []
    for message in messages:
        if joined and message.role == "user" and joined[-1].role == "user":
            joined[-1] = _together(joined[-1], message)
        else:
            joined.append(message)
    return tuple(joined)


def _together(first: Message, second: Message) -> Message:
    if isinstance(first.content, str) and isinstance(second.content, str):
        return replace(first, content=f"{first.content}{DIVIDER}{second.content}", origin=second.origin)
    return replace(first, content=(*first.parts, Text(DIVIDER), *second.parts), origin=second.origin)
