"""Checking a list of messages that a host puts in the place of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.errors import MessageError

_WORDS = {
    "orphan_result": "a result without its call",
    "unanswered_call": "a call without its result",
    "start": "a first message that is not the user's",
    "late_system": "a system message inside the conversation",
    "empty": "no message",
    "blank": "a message without content",
}


class Invalid(NamedTuple):
    """Why a list can't replace a conversation.

    Attributes:
        position: Where, as a position in the list.
        kind: `empty`, `blank`, `start`, `orphan_result`, `unanswered_call` or `late_system`.
    """

    position: int
    kind: str


def invalid(messages: Sequence[Message]) -> Invalid | None:
    """The first thing that a provider would refuse about a list, or None; it may end with either side's message."""
    blank = [Invalid(at, "blank") for at, message in enumerate(messages) if not message.parts and not message.calls]
    empty_texts = [Invalid(at, "blank") for at, message in enumerate(messages) if _is_empty_text(message)]
    found = [Invalid(one.position, one.kind) for one in problems(messages, needs_reply=False)]
    return min((*blank, *empty_texts, *found), default=None)


def _is_empty_text(message: Message) -> bool:
    """True for an empty text where there must be something; a result may be empty."""
    return message.content == "" and not message.calls and message.role != "tool"


def refuse_invalid(messages: Sequence[Message]) -> None:
    """Raises when a list can't replace a conversation.

    Raises:
        MessageError: Names the position and what is wrong there.
    """
    found = invalid(messages)
    if found is not None:
        what = _WORDS[found.kind]
        raise MessageError(
            f"The new list has {what} at position {found.position}.",
            "Begin with a user message, keep each call together with its results, and leave no message empty.",
            subject=found.position,
        )
