"""What a session's log tells, read record by record; a record that can't be read costs itself only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.pins import SOURCES, Pin
from harness_nb.core.records import message_from_record
from harness_nb.errors import MessageError

LOST = "[A message that stood here could not be read from the session's log.]"
"""Stands for a message whose record is lost, since an index names a message for ever."""


@dataclass(slots=True)
class Past:
    """What was said and noted in a session.

    Attributes:
        messages: The log; an index names a message.
        shown: Items that the model saw instead of a message, as records, by log index.
        pins: What is pinned.
        flushed: Facts were taken from all messages before this one.
        turns: Number of turns.
        spent: US dollars for summaries and facts.
        so_far: The text of an answer that did not become a message, as the process ended in the middle of it.
        warnings: A sentence for each record that could not be used.
    """

    messages: list[Message] = field(default_factory=list)
    shown: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    pins: list[Pin] = field(default_factory=list)
    flushed: int = 0
    turns: int = 0
    spent: float = 0.0
    so_far: str = ""
    warnings: list[str] = field(default_factory=list)


def read_log(records: Sequence[Mapping[str, Any]]) -> Past:
    """Reads the records of a log in order."""
    past = Past()
    for record in records:
        try:
            _take(past, record, most=2 * len(records))
        except MessageError as error:
            past.warnings.append(f"a record was skipped. {error.problem}")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            past.warnings.append(f"a record of kind {record.get('kind')!r} was skipped: {error!r}.")
    return past


def _take(past: Past, record: Mapping[str, Any], most: int) -> None:
    match record.get("kind"):
        case "message":
            _take_message(past, record, most)
        case "shown":
            past.shown[int(record["item"]["index"])] = record["item"]
        case "pin":
            past.pins.append(_pin(record))
        case "unpin":
            past.pins = [pin for pin in past.pins if pin.text != record["text"]]
        case "flushed":
            past.flushed = max(past.flushed, int(record["upto"]))
        case "so_far":
            past.so_far = str(record["text"])
        case "event" if record.get("event") == "turn_started":
            past.turns += 1
        case "event" if record.get("event") == "step_finished" and record.get("purpose") != "chat":
            past.spent += float((record["usage"] or {}).get("cost") or 0.0)


def _pin(record: Mapping[str, Any]) -> Pin:
    source, index = record["source"], record["index"]
    if not isinstance(record["text"], str) or source not in SOURCES or not (index is None or isinstance(index, int)):
        raise MessageError(f"{dict(record)!r} is no pin.")
    return Pin(record["text"], source, index)


def _take_message(past: Past, record: Mapping[str, Any], most: int) -> None:
    """Takes a message in at its index; a gap before it is filled, so that every later message keeps its own."""
    index = int(record["index"])
    lost = index - len(past.messages)
    if lost < 0 or index > most:
        past.warnings.append(f"message {index} stands out of place and was skipped.")
        return
    message = message_from_record(record)
    if lost:
        past.messages += [Message.user(LOST, origin="harness")] * lost
        past.warnings.append(f"{lost} message(s) before message {index} could not be read.")
    past.messages.append(message)
    past.so_far = ""
