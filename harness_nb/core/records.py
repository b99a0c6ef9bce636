"""Messages and items as JSON values, for session files. Lossless; unknown fields are ignored when read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, cast

from harness_nb.core.item import How, Item
from harness_nb.core.messages import Message, Origin, Usage, to_json
from harness_nb.errors import MessageError


def message_to_record(message: Message) -> dict[str, Any]:
    """A message as JSON values: its OpenAI form, and beside it what that form has no place for."""
    record: dict[str, Any] = {"message": message.to_openai(), "origin": message.origin}
    for name in ("status", "finish"):
        if getattr(message, name):
            record[name] = getattr(message, name)
    if message.time is not None:
        record["time"] = message.time.isoformat()
    if message.usage is not None:
        record["usage"] = _usage_to_record(message.usage)
    return record


def message_from_record(record: Mapping[str, Any]) -> Message:
    """The message of a record.

    Raises:
        MessageError: The record holds no message.
    """
    try:
        usage = record.get("usage")
        said = record.get("time")
        return Message.from_openai(
            record["message"],
            origin=cast(Origin, record.get("origin")),
            status=record.get("status", ""),
            finish=record.get("finish", ""),
            time=datetime.fromisoformat(said) if said else None,
            usage=_usage(usage) if usage is not None else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MessageError(f"A record holds no message: {error!r}.", "Leave the line out, or repair it.") from error


def _usage_to_record(usage: Usage) -> dict[str, Any]:
    """What differs from the default; a cost of 0 is known and stays."""
    return {one.name: value for one in fields(Usage) if (value := getattr(usage, one.name)) != one.default}


def _usage(record: Mapping[str, Any]) -> Usage:
    known = {one.name for one in fields(Usage)}
    return Usage(**({"input_tokens": 0} | {key: value for key, value in record.items() if key in known}))


def item_to_record(item: Item) -> dict[str, Any]:
    """An item as JSON values; a message shown as the log has it is named by its index alone."""
    record: dict[str, Any] = {}
    if item.index is not None:
        record["index"] = item.index
    if item.how != "kept":
        record["how"] = item.how
    if item.how != "kept" or item.index is None:
        record["shown"] = message_to_record(item.message)
    if item.stands_for:
        record["stands_for"] = list(item.stands_for)
    if item.meta:
        record["meta"] = dict(item.meta)
    return record


def item_from_record(record: Mapping[str, Any], log: Sequence[Message]) -> Item:
    """The item of a record.

    Args:
        record: The item's JSON values.
        log: All messages of the session, to which an index refers.

    Raises:
        MessageError: The record is no item, or names a message that the log does not have.
    """
    if not isinstance(record, Mapping):
        raise MessageError(f"{record!r} is no item of a session file.")
    index = record.get("index")
    if index is not None and not (isinstance(index, int) and 0 <= index < len(log)):
        raise MessageError(f"The session file names message {index!r}, which its log does not have.")
    if "shown" in record:
        message = message_from_record(record["shown"])
    elif index is not None:
        message = log[index]
    else:
        raise MessageError("An item of the session file has neither an index nor a message.")
    stands_for, meta = record.get("stands_for", []), record.get("meta", {})
    if not isinstance(stands_for, list) or not isinstance(meta, Mapping):
        raise MessageError(f"{record!r} is no item of a session file.")
    return Item(index, message, cast(How, record.get("how", "kept")), tuple(stands_for), dict(meta))


def log_line(index: int, message: Message) -> str:
    """One line of a session log, without its line end."""
    return to_json({"kind": "message", "index": index, **message_to_record(message)})


def parse_line(line: str) -> dict[str, Any] | None:
    """The record of one line, or None when it is no JSON object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
