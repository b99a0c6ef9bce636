"""Where a fact comes from: the messages that it names, or else those that hold its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.messages import Message

_SPEAKER = re.compile(r"^(?:the )?(?:user|assistant|person|human|ai|tool)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """First and last index of the messages that a fact was read from, and who wrote them where that is one role."""

    messages: tuple[int, int]
    role: str


def source_of(fact: str, named: Sequence[int], messages: Sequence[tuple[int, Message]]) -> Source:
    """The source of a fact: the messages it names; else the one that holds it word for word; else all that were read.

    Args:
        fact: The fact's text.
        named: Indices that the model named, in ascending order, all of them among `messages`.
        messages: The messages that were read, with their log indices; not empty.
    """
    found = [(index, message) for index, message in messages if index in named]
    if not found:
        sought = _folded(_SPEAKER.sub("", fact)).rstrip(".…")
        found = [pair for pair in messages if sought and sought in _folded(pair[1].text)][:1]
    roles = {message.role for _, message in found}
    found = found or list(messages)
    return Source((found[0][0], found[-1][0]), roles.pop() if len(roles) == 1 else "")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
