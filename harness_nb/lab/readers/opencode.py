"""Sessions of OpenCode, as `opencode export` writes them: one JSON document with `info` and `messages`.

A message has an `info` and `parts`. The list alone, as the server's API gives it, one message a line, and the folder
`storage/message/<session>` in which earlier versions keep a session are read, too; the database of later ones is not. Sources:
OpenCode's documentation of the server's API (opencode.ai/docs/server) and the types that its SDK publishes
(`packages/sdk/js/src/gen/types.gen.ts` of its repository).

An assistant message holds several requests, each between a `step-start` and a `step-finish`; a call and its result are
one part. A user message with a `compaction` part and the answer marked `summary` are a compaction. Sub-agents have
sessions of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from harness_nb.core.messages import Message, Part, Text, Usage, part_from_openai
from harness_nb.lab.entries import UNREADABLE, Begins, Compacted, Dropped, Entry, Line, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, count, file_of, moment, reasoning, tool_call, words

NAME = "OpenCode"

_FINISH = {"tool-calls": "tool_calls"}
_SILENT = {"step-start", "snapshot", "patch", "agent", "retry", "compaction", "subtask"}


def claims(value: Any) -> bool:
    """True for a message with its parts, a list of such, and an export."""
    messages = _messages(value)
    return _is_message(value) if messages is None else any(_is_message(one) for one in messages)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages and marks; what the user reverted is dropped."""
    for line in lines:
        messages = _messages(line.value)
        if messages is None:
            yield from _entries(line.place, line.value)
            continue
        yield Begins(line.place)
        reverted = _reverted(line.value)
        is_gone = False
        for number, wire in enumerate(messages, start=1):
            place = Place(line.place.line, number)
            is_gone = is_gone or (reverted is not None and _is_message(wire) and wire["info"].get("id") == reverted)
            yield from [Dropped(place, "a message that the user reverted")] if is_gone else _entries(place, wire)


def _entries(place: Place, wire: Any) -> Iterator[Entry]:
    """What one message says; nothing of it when a part of it can't be read."""
    try:
        yield from list(_user(place, wire) if wire["info"]["role"] == "user" else _assistant(place, wire))
    except UNREADABLE:
        yield Skipped(place, "a message that is not as OpenCode writes it")


def _user(place: Place, wire: Mapping[str, Any]) -> Iterator[Entry]:
    shown = [part for part in wire["parts"] if not part.get("ignored")]
    content = tuple(_part(part) for part in shown if part["type"] not in _SILENT)
    if content:
        typed = any(not part.get("synthetic") for part in shown if part["type"] == "text")
        yield Said(place, Message.user(as_content(content), origin="user" if typed else "harness", time=_time(wire)))


def _assistant(place: Place, wire: Mapping[str, Any]) -> Iterator[Entry]:
    info = wire["info"]
    if info.get("summary") is True:
        text = "\n".join(part["text"] for part in wire["parts"] if part["type"] == "text")
        before = _usage(info.get("tokens"), None)
        yield Compacted(place, text, before.input_tokens if before else None)
        return
    steps = _steps(wire["parts"])
    for number, step in enumerate(steps, start=1):
        is_last = number == len(steps)
        answer = _answer(step, info, is_only=len(steps) == 1, is_last=is_last, time=_time(wire))
        if answer.is_blank:
            yield Dropped(place, "an assistant message without content")
            continue
        yield Said(place, answer, str(info.get("modelID") or ""))
        for part in step:
            if part["type"] == "tool" and (result := _result(part)) is not None:
                yield Said(place, result)


def _steps(parts: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The parts of each request; without marks all are one request's."""
    steps: list[list[Mapping[str, Any]]] = [[]]
    for part in parts:
        if part["type"] == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    return steps


def _answer(
    step: Sequence[Mapping[str, Any]], info: Mapping[str, Any], *, is_only: bool, is_last: bool, time: datetime | None
) -> Message:
    """The answer of one request; what it cost stands at its end, or with the message where that has one request only."""
    end = next((part for part in step if part["type"] == "step-finish"), info if is_only else {})
    content = tuple(_part(part) for part in step if part["type"] not in (*_SILENT, "tool", "step-finish"))
    finish = str(end.get("reason") or (info.get("finish") if is_last else "") or "")
    if is_last and info.get("error"):
        finish = "error"
    return Message(
        "assistant",
        as_content(content) if content else None,
        calls=tuple(
            tool_call(part["callID"], part["tool"], part["state"].get("input"))
            for part in step
            if part["type"] == "tool"
        ),
        time=time,
        usage=_usage(end.get("tokens"), end.get("cost"))
        or (_usage(info.get("tokens"), info.get("cost")) if is_only else None),
        finish=_FINISH.get(finish, finish),
    )


def _result(part: Mapping[str, Any]) -> Message | None:
    """The result of a call; None when it was still running."""
    state = part["state"]
    status = state["status"]
    if status not in ("completed", "error"):
        return None
    text = state.get("output") if status == "completed" else state.get("error")
    files = tuple(_file(one) for one in state.get("attachments") or ())
    content = (Text(str(text or "")), *files) if files else str(text or "")
    ended = (state.get("time") or {}).get("end")
    return Message.tool(
        str(part["callID"]),
        content,
        name=str(part["tool"]),
        status="error" if status == "error" else "",
        time=moment(ended),
    )


def _part(part: Mapping[str, Any]) -> Part:
    if part["type"] == "text":
        return words(part["text"])
    if part["type"] == "reasoning":
        return reasoning(part["text"], {"metadata": part["metadata"]} if part.get("metadata") else None)
    return _file(part) if part["type"] == "file" else part_from_openai(part)


def _file(part: Mapping[str, Any]) -> Part:
    return file_of(str(part.get("mime") or ""), part["url"], str(part.get("filename") or ""))


def _time(wire: Mapping[str, Any]) -> datetime | None:
    return moment((wire["info"].get("time") or {}).get("created"))


def _usage(tokens: Any, cost: Any) -> Usage | None:
    """Usage; OpenCode counts the cached part of the prompt and the reasoning beside the rest."""
    if not isinstance(tokens, Mapping):
        return None
    cache = tokens.get("cache")
    kept = cache if isinstance(cache, Mapping) else {}
    usage = Usage(
        input_tokens=count(tokens, "input") + count(kept, "read", "write"),
        output_tokens=count(tokens, "output", "reasoning"),
        cached_tokens=count(kept, "read"),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _reverted(value: Any) -> str | None:
    """The first message that the user took back, if any."""
    info = value.get("info") if isinstance(value, Mapping) else None
    revert = info.get("revert") if isinstance(info, Mapping) else None
    found = revert.get("messageID") if isinstance(revert, Mapping) else None
    return found if isinstance(found, str) else None


def _messages(value: Any) -> list[Any] | None:
    """The list of messages of an export or by itself; None for anything else."""
    if isinstance(value, Mapping) and isinstance(value.get("info"), Mapping):
        value = value.get("messages")
    return value if isinstance(value, list) else None


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("parts"), list):
        return False
    info = value.get("info")
    return isinstance(info, Mapping) and info.get("role") in ("user", "assistant")
