"""Our own session logs, `<id>.log.jsonl`: a record a line. Messages are read, events and what else there is are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness_nb.core.records import message_from_record
from harness_nb.errors import MessageError
from harness_nb.lab.entries import Entry, Line, Said, Skipped

NAME = "harness_nb"


def claims(value: Any) -> bool:
    """True for a message of a session log."""
    return isinstance(value, dict) and value.get("kind") == "message" and isinstance(value.get("message"), dict)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages, each index once."""
    seen: set[object] = set()
    for line in lines:
        if not claims(line.value):
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
        seen.add(index)
        yield Said(line.place, message)
