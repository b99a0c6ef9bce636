"""One JSON document with a message on each line, so that it can be compared line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness_nb.core.messages import to_json


def request(head: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """An object with some fields first and the messages behind them.

    Args:
        head: Fields before `messages`; those without a value are left out.
        messages: The messages, in order.
    """
    fields = to_json({key: value for key, value in head.items() if value})
    yield f'{fields[:-1]}{"," if fields != "{}" else ""}"messages":['
    yield from _lines(messages)
    yield "}\n"


def array(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A list of messages."""
    yield "["
    yield from _lines(messages)
    yield "\n"


def _lines(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, message in enumerate(messages):
        yield f"{',' if number else ''}\n{to_json(message)}"
    yield "\n]"
