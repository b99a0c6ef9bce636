"""Identifiers in texts: paths, symbols and ids, the words that a later call can't do without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness_nb.core.messages import Message, ToolCall

LEAST_CHARS = 4
MOST_CHARS = 200
LEAST_DIGITS = 5

_RUN = re.compile(rf"[\w@$~./-]{{{LEAST_CHARS},}}")
_TELLS = re.compile(r"[a-z][A-Z]|_|[A-Za-z][A-Za-z]*[./-]?\d|\d[A-Za-z]|\w[./]\w")
_EDGES = "./-~@$"

OLD_TEXT = frozenset({"oldText", "old_text", "oldString", "old_string", "old_str"})
"""Names under which editing tools take the text that is to be replaced."""


def identifiers(text: str) -> set[str]:
    """Paths, symbols and ids in a text.

    An identifier is a run of letters, digits and `_ . / - @ $ ~`, without those marks at its ends, of 4 to 200 characters,
    that plain words don't look like: with a slash, a dot or an underscore inside, in camel case, with a digit among letters, or
    a number of at least five digits.
    """
    runs = {run.strip(_EDGES) for run in _RUN.findall(text)}
    return {run for run in runs if LEAST_CHARS <= len(run) <= MOST_CHARS and _is_identifier(run)}


def _is_identifier(run: str) -> bool:
    if run.isdigit():
        return len(run) >= LEAST_DIGITS
    return _TELLS.search(run) is not None and any(map(str.isalpha, run))


def texts(message: Message) -> Iterator[str]:
    """All that a message says: its text, and the texts in the arguments of its calls."""
    if message.text:
        yield message.text
    for call in message.calls:
        yield from call_texts(call)


def call_texts(call: ToolCall) -> Iterator[str]:
    """The texts and numbers in a call's arguments; the arguments as they are where they are no JSON object."""
    parsed = call.parsed()
    if parsed is None:
        yield call.arguments
    else:
        yield from (str(value) for _, value in _values(parsed))


def old_texts(call: ToolCall) -> Iterator[str]:
    """The texts that an editing call wants to replace, in full."""
    for name, value in _values(call.parsed() or {}):
        if name in OLD_TEXT and isinstance(value, str) and value.strip():
            yield value


def _values(given: Any) -> Iterator[tuple[str, Any]]:
    """Every plain value inside a JSON value, with the name that it has."""
    ahead: list[tuple[str, Any]] = [("", given)]
    while ahead:
        name, one = ahead.pop()
        if isinstance(one, dict):
            ahead += one.items()
        elif isinstance(one, list):
            ahead += [(name, inner) for inner in one]
        elif isinstance(one, str | int | float) and not isinstance(one, bool):
            yield name, one
