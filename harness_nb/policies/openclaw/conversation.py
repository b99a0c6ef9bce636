"""What counts as conversation, and how blank requests are made whole before a compaction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Text, Thinking
from harness_nb.policies.openclaw.sizes import summary_text, texts
from harness_nb.policies.openclaw.wording import BLANK_REQUEST

SILENT = "NO_REPLY"
"""Whole answer that is not delivered to anybody."""

HEARTBEAT = "HEARTBEAT_OK"
"""Answer to a regular look whether there is anything to do."""

_LOOK_BACK = 20
_SILENT = re.compile(rf"\s*{SILENT}(?:\s+{SILENT})*\s*", re.IGNORECASE)
_HEARTBEAT_AT_END = re.compile(rf"{HEARTBEAT}[^\w]{{0,4}}$", re.ASCII)
_TAGS = re.compile(r"<[^>]*>")


def repaired(items: Iterable[Item]) -> tuple[Item, ...]:
    """The same items with blank requests of the user made a short text, and blank parts left out."""
    return tuple(map(_repaired, items))


def _repaired(item: Item) -> Item:
    message = item.message
    if message.role != "user" or item.index is None:
        return item
    kept = tuple(part for part in message.parts if not isinstance(part, Text) or part.text.strip())
    if not kept:
        return edits.cleared(item, BLANK_REQUEST)
    if len(kept) == len(message.parts):
        return item
    return edits.edited(item, replace(message, content=kept), "cleared")


def has_conversation(items: Sequence[Item]) -> bool:
    """Whether anybody said anything in some items, beyond silent answers and heartbeats."""
    return any(_is_conversation(items, at) for at in range(len(items)))


def _is_conversation(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    if summary_text(item) is not None or item.message.role == "system":
        return False
    if item.message.role != "tool":
        return _says_something(item.message)
    before = items[max(0, at - _LOOK_BACK) : at]
    return any(
        one.message.role == "user" and summary_text(one) is None and _says_something(one.message) for one in before
    )


def _says_something(message: Message) -> bool:
    shows_more = any(not isinstance(part, Text | Thinking) for part in message.parts)
    return shows_more or any(map(_is_meaningful, texts(message)))


def _is_meaningful(text: str) -> bool:
    told = text.strip()
    if not told or is_silent(told):
        return False
    rest = _without_heartbeat(told)
    return rest is None or bool(rest)


def is_silent(text: str) -> bool:
    """Whether a text is nothing but the token of a silent answer."""
    return bool(_SILENT.fullmatch(text) or _SILENT.fullmatch(_without_edges(text)))


def _without_edges(text: str) -> str:
    """A text without punctuation at its ends."""
    start, stop = 0, len(text)
    while start < stop and unicodedata.category(text[start])[0] == "P":
        start += 1
    while stop > start and unicodedata.category(text[stop - 1])[0] == "P":
        stop -= 1
    return text[start:stop]


def _without_heartbeat(text: str) -> str | None:
    """What is left of a text without heartbeats at its ends; None when it has none there."""
    plain = _stripped(text)
    if plain:
        return plain
    bare = re.sub(r"^[*`~_]+|[*`~_]+$", "", _TAGS.sub(" ", text).replace("&nbsp;", " "))
    return _stripped(bare)


def _stripped(text: str) -> str | None:
    rest = text.strip()
    while True:
        if rest.startswith(HEARTBEAT):
            rest = rest[len(HEARTBEAT) :].strip()
        elif _HEARTBEAT_AT_END.search(rest):
            at = rest.rindex(HEARTBEAT)
            before = rest[:at].rstrip()
            rest = f"{before}{rest[at + len(HEARTBEAT) :].lstrip()}".rstrip() if before else ""
        else:
            break
    return None if rest == text.strip() else rest
