"""Chats of Gemini CLI under `~/.gemini/tmp/<project>`: recordings and checkpoints.

Recordings (`chats/session-*`) are one JSON document or, in later versions, JSON Lines: a head, a record a message, which
is written again whenever it changes, `{"$set": ...}` and `{"$rewindTo": id}`. A `$set` of the messages replaces the
model's list: after a compaction by a list that begins with a summary, after an aborted turn by a shorter one. Checkpoints
(`checkpoint-*.json`, and those made before a tool writes) hold the model's list itself, in the form of the Gemini API,
as do requests to that API (`contents`). Sources: the recording service of github.com/google-gemini/gemini-cli
(`packages/core/src/services/chatRecordingService.ts`), its documentation of sessions and checkpoints, and the public
reference of the Gemini API (ai.google.dev/api).

A record of the model holds its thoughts, calls and their results. Sub-agents have files of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.lab.entries import UNREADABLE, Begins, Compacted, Dropped, Entry, Line, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, count, moment, reasoning, tool_call
from harness_nb.lab.readers.gemini_contents import answered, divided, is_content, parts_of, result_of, said_in_contents

NAME = "Gemini CLI"

_NOTICES = {"info", "error", "warning"}
_STATUS = {"error": "error", "cancelled": "interrupted"}
_COMMANDS = ("/", "?")
_LIST_KEYS = ("clientHistory", "history", "contents")


def claims(value: Any) -> bool:
    """True for a recording, a line of one, and a list of messages in the form of the Gemini API."""
    if _contents(value) is not None or _is_record(value):
        return True
    if not isinstance(value, Mapping):
        return False
    messages = value.get("messages")
    held = isinstance(messages, list) and any(_is_record(one) for one in messages)
    return held or ("sessionId" in value and "projectHash" in value)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages and marks, each record as it was written last."""
    recording = _Recording()
    for line in lines:
        contents = _contents(line.value)
        if contents is not None:
            yield Begins(line.place)
            yield from said_in_contents(line.place, contents)
        elif isinstance(line.value, Mapping):
            yield from recording.take(line, line.value)
    yield from recording.tell()


@dataclass(slots=True)
class _Recording:
    """A recording as far as it was read: the records that may still change, and the ids of those that were told."""

    records: dict[str, tuple[Place, Mapping[str, Any]]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    open_calls: deque[ToolCall] = field(default_factory=deque)

    def take(self, line: Line, value: Mapping[str, Any]) -> Iterator[Entry]:
        """Takes one line; what it does away with is told at once."""
        patch = value.get("$set")
        listed = (patch if isinstance(patch, Mapping) else value).get("messages")
        if isinstance(value.get("$rewindTo"), str):
            ids = list(self.records)
            start = ids.index(value["$rewindTo"]) if value["$rewindTo"] in self.records else 0
            yield from _dropped([self.records.pop(one) for one in ids[start:]], "a message that the user took back")
        elif isinstance(listed, list):
            yield from self._replace(line.place, listed)
        elif _is_record(value) and value["id"] not in self.told:
            self.records[value["id"]] = (line.place, value)

    def tell(self) -> Iterator[Entry]:
        """Tells the records, which then change no more."""
        for place, record in self.records.values():
            yield from _said(place, record, self.open_calls)
        self.told |= self.records.keys()
        self.records.clear()

    def _replace(self, place: Place, listed: list[Any]) -> Iterator[Entry]:
        """Puts a list in the place of the records.

        When records left and unknown ones came, this was a compaction: what was said before is told, and the unknown are
        the summary. When they only left, they were taken back.
        """
        known = {
            one["id"]: (Place(place.line, number), one)
            for number, one in enumerate(listed, start=1)
            if _is_record(one) and one["id"] not in self.told
        }
        left = [one for id, one in self.records.items() if id not in known]
        came = {id: record for id, (_, record) in known.items() if id not in self.records}
        if left and came:
            yield from self.tell()
            self.told |= came.keys()
            yield Compacted(place, "\n".join(text for record in came.values() if (text := _text(record))))
            return
        yield from _dropped(left, "a message that was taken back")
        self.records = {id: self.records.get(id, entry) for id, entry in known.items()}


def _dropped(entries: Iterable[tuple[Place, Mapping[str, Any]]], what: str) -> Iterator[Entry]:
    return (Dropped(place, what) for place, _ in entries)


def _said(place: Place, record: Mapping[str, Any], open_calls: deque[ToolCall]) -> Iterator[Entry]:
    """What one record says; nothing of it when a part of it can't be read."""
    if record["type"] in _NOTICES:
        yield Dropped(place, "a notice that only the user saw")
        return
    tell = _user if record["type"] == "user" else _model
    try:
        yield from list(tell(place, record, open_calls))
    except UNREADABLE:
        yield Skipped(place, "a message that is not as Gemini CLI writes it")


def _user(place: Place, record: Mapping[str, Any], open_calls: deque[ToolCall]) -> Iterator[Entry]:
    """Results that the record of the model does not hold, and what the user said."""
    content, said = record["content"], moment(record.get("timestamp"))
    results, others = divided(content) if isinstance(content, list) else ([], content)
    for one in results:
        call = answered(one, open_calls)
        if call is not None:
            yield Said(place, replace(result_of(one, call.id), time=said))
    words = as_content(tuple(parts_of(others)))
    message = Message.user(words, time=said)
    if message.text.lstrip().startswith(_COMMANDS):
        yield Dropped(place, "a command to the program, which the model never saw")
    elif words:
        yield Said(place, message)


def _model(place: Place, record: Mapping[str, Any], open_calls: deque[ToolCall]) -> Iterator[Entry]:
    thoughts = [reasoning(_thought(one)) for one in record.get("thoughts") or ()]
    found = (*thoughts, *parts_of(record.get("content") or ()))
    made = list(record.get("toolCalls") or ())
    answer = Message(
        "assistant",
        as_content(found) if found else None,
        calls=tuple(tool_call(one["id"], one["name"], one.get("args")) for one in made),
        time=moment(record.get("timestamp")),
        usage=_usage(record.get("tokens")),
    )
    if answer.is_blank:
        yield Dropped(place, "an assistant message without content")
        return
    yield Said(place, answer, str(record.get("model") or ""))
    for one, call in zip(made, answer.calls, strict=True):
        if one.get("result") is None:
            open_calls.append(call)
        else:
            content = as_content(tuple(parts_of(one["result"])))
            status = _STATUS.get(str(one.get("status")), "")
            time = moment(one.get("timestamp"))
            yield Said(place, Message.tool(call.id, content, name=call.name, status=status, time=time))


def _thought(thought: Mapping[str, Any]) -> str:
    return "\n".join(str(thought[key]) for key in ("subject", "description") if thought.get(key))


def _text(record: Mapping[str, Any]) -> str:
    try:
        return Message.user(parts_of(record.get("content") or ())).text
    except UNREADABLE:
        return ""


def _usage(tokens: Any) -> Usage | None:
    """Usage; the cached part is among the input, thoughts stand beside the output."""
    if not isinstance(tokens, Mapping):
        return None
    usage = Usage(
        input_tokens=count(tokens, "input", "tool"),
        output_tokens=count(tokens, "output", "thoughts"),
        cached_tokens=count(tokens, "cached"),
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _is_record(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str) or "content" not in value:
        return False
    kind = value.get("type")
    return kind == "gemini" or (kind in ("user", *_NOTICES) and "timestamp" in value and "role" not in value)


def _contents(value: Any) -> list[Any] | None:
    """The list of messages of a checkpoint or request; None for anything else."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
    return value if isinstance(value, list) and any(is_content(one) for one in value) else None
