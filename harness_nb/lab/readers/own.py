"""Our own session logs, `<id>.log.jsonl`: a record a line. Messages are read, events and what else there is are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness_nb.core.records import message_from_record
from harness_nb.errors import MessageError
from harness_nb.lab.entries import Entry, Line, ModelNamed, Said, Skipped

NAME = "harness_nb"


def claims(value: Any) -> bool:
    """True for a message of a session log."""
    return isinstance(value, dict) and value.get("kind") == "message" and isinstance(value.get("message"), dict)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages, each index once."""
    seen: set[int] = set()
    for line in lines:
        if not claims(line.value):
            yield from _header(line)
            continue
        index = line.value.get("index")
        if isinstance(index, int) and index in seen:
            yield Skipped(line.place, f"message {index}, which stands in the log already")
            continue
        try:
            message = message_from_record(line.value)
        except MessageError as error:
            yield Skipped(line.place, f"a record that holds no message: {error.problem}")
            continue
        if isinstance(index, int):
            seen.add(index)
        yield Said(line.place, message)


def _header(line: Line) -> Iterator[Entry]:
    """The model that the first line of a log names."""
    record = line.value
    if isinstance(record, dict) and record.get("kind") == "session" and isinstance(record.get("model"), str):
        yield ModelNamed(line.place, record["model"])
