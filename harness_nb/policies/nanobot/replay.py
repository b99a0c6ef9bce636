"""Which messages of a session are replayed at the start of a turn, and in what form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message

_TIME = re.compile(r"^\[Message Time: [^\]]+\]\n?")
_ECHO = re.compile(r"^\[image: [/~][^\]]+\]\s*$|^\s*(?:generate_image|message)\([^)]*\)\s*$")


def aligned(rows: Sequence[Item]) -> Sequence[Item]:
    """Rows from the first message of the user on, if there is one, and never with results whose call is missing."""
    at = next((at for at, row in enumerate(rows) if row.message.role == "user"), 0)
    return legal(rows[at:])


def legal(rows: Sequence[Item]) -> Sequence[Item]:
    """Rows behind the last result that answers no call among them."""
    declared: set[str] = set()
    start = 0
    for at, row in enumerate(rows):
        declared |= {call.id for call in row.message.calls if call.id}
        if row.message.role == "tool" and row.message.call_id and row.message.call_id not in declared:
            start = at + 1
            declared.clear()
    return rows[start:]


def window_start(rows: Sequence[Item], most: int, *, extend: bool = True) -> int:
    """Position of the first of the last rows; of an earlier message of the user where there is none among them.

    Args:
        rows: The rows.
        most: How many.
        extend: Whether it goes back to a message of the user.
    """
    start = max(0, len(rows) - most)
    if not start or not extend or any(row.message.role == "user" for row in rows[start:]):
        return start
    return next((at for at in range(start - 1, -1, -1) if rows[at].message.role == "user"), start)


def shown(rows: Iterable[Item], *, trims: bool = True) -> list[Item]:
    """Rows as they are replayed: replies without what they copied of our own marks, and no blank ones.

    Args:
        rows: The rows.
        trims: Whether replies lose white space around them even where nothing else changes.
    """
    made = []
    for row in rows:
        message = row.message
        if message.role == "assistant" and isinstance(message.content, str):
            text = without_artefacts(message.content)
            if not text and not message.calls and "reasoning_content" not in message.rest:
                continue
            if text != message.content and (trims or text != message.content.strip()):
                row = edits.edited(row, replace(message, content=text), "truncated")
        made.append(row)
    return made


def without_artefacts(text: str) -> str:
    """A reply without a time, picture marks and calls that a model copied from earlier messages."""
    lines = _TIME.sub("", text, count=1).splitlines()
    return "\n".join(line for line in lines if not _ECHO.match(line)).strip()


def within(rows: list[Item], tokens: int, size: Callable[[Message], int]) -> Sequence[Item]:
    """The last rows that have so many tokens, from a message of the user on, even if that is too long.

    Args:
        rows: The rows.
        tokens: Most tokens; 0 for no limit.
        size: Tokens of a message.
    """
    if tokens <= 0 or not rows:
        return rows
    start, used = len(rows), 0
    for at in range(len(rows) - 1, -1, -1):
        used += size(rows[at].message)
        if start < len(rows) and used > tokens:
            break
        start = at
    users = [at for at, row in enumerate(rows) if row.message.role == "user"]
    inside = next((at for at in users if at >= start), None)
    first = inside if inside is not None else users[-1] if users else start
    return legal(rows[first:])
