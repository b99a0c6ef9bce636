"""Sessions of the coding agent pi, which OpenClaw writes, too: JSON Lines, an entry a line.

Version 1 is a plain sequence. In versions 2 and 3 entries have an `id` and a `parentId` and form a tree, of which the
path to the last entry is read. Sources: the schema of the recorded sessions that tests read, and pi's own description of
its session files (`packages/coding-agent/docs/session.md` and `session-format.md` of its repository).

Compaction entries and changes of settings become marks. A shell command that the user ran becomes a user message. What
an extension or a change of branch put into the context becomes a message of the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness_nb.core.messages import Message, Usage
from harness_nb.lab.entries import (
    UNREADABLE,
    Compacted,
    Dropped,
    Entry,
    Line,
    ModelNamed,
    Said,
    SettingChanged,
    Skipped,
)
from harness_nb.lab.readers.blocks import calls, count, moment, parts, text_or_parts
from harness_nb.lab.readers.branches import Link, path_taken

NAME = "pi"

_FINISH = {"toolUse": "tool_calls"}
_FOR_THE_SCREEN = ("details", "data")
_SAYING = ("message", "custom_message", "branch_summary")


def claims(value: Any) -> bool:
    """True for the header of a session and for an entry with a message."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "session":
        return "cwd" in value or "modelId" in value
    message = value.get("message")
    return value.get("type") == "message" and isinstance(message, dict) and "role" in message


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages and marks of the path that the session took."""
    entries = [_slim(line) for line in lines if isinstance(line.value, dict)]
    header = next((line.value.get("id") for line in entries if line.value.get("type") == "session"), None)
    taken = path_taken([_link(line.value, header) for line in entries])
    for position, line in enumerate(entries):
        if position in taken:
            yield from _entries(line)
        elif line.value.get("type") in _SAYING:
            yield Dropped(line.place, "a message of a branch that was left")


def _slim(line: Line) -> Line:
    """A line without what is for the screen only, which may be longer than all that was said."""
    entry = {key: value for key, value in line.value.items() if key not in _FOR_THE_SCREEN}
    if isinstance(entry.get("message"), dict):
        entry["message"] = {key: value for key, value in entry["message"].items() if key not in _FOR_THE_SCREEN}
    return Line(line.place, entry)


def _link(entry: Mapping[str, Any], header: Any) -> Link:
    """An entry's link; one that says it has no parent follows the header."""
    own, parent = entry.get("id"), entry.get("parentId")
    if parent is None and "parentId" in entry:
        parent = header
    return Link(own if isinstance(own, str) else None, parent if isinstance(parent, str) else None)


def _entries(line: Line) -> Iterator[Entry]:
    entry = line.value
    kind = entry.get("type")
    if kind in _SAYING:
        yield _saying(line)
    elif kind == "compaction":
        before = entry.get("tokensBefore")
        yield Compacted(line.place, str(entry.get("summary", "")), before if isinstance(before, int) else None)
    elif kind in ("session", "model_change", "thinking_level_change"):
        yield from _settings(line)


def _settings(line: Line) -> Iterator[Entry]:
    """Model and level of thinking, as a header or a change of them names them."""
    model, level = line.value.get("modelId"), line.value.get("thinkingLevel")
    if isinstance(model, str):
        yield ModelNamed(line.place, model)
        yield SettingChanged(line.place, "model", model)
    if isinstance(level, str):
        yield SettingChanged(line.place, "thinking", level)


def _saying(line: Line) -> Entry:
    """The message of an entry, or why there is none."""
    entry = line.value
    try:
        wire = entry["message"] if entry["type"] == "message" else {"role": entry["type"], **entry}
        role = wire.get("role")
        make = _MAKERS.get(role) if isinstance(role, str) else None
        if make is None:
            return Skipped(line.place, f"a message of the unknown role {role!r}")
        message = make(wire, time=moment(entry.get("timestamp")) or moment(wire.get("timestamp")))
    except UNREADABLE:
        return Skipped(line.place, "an entry whose message is not as pi writes it")
    if message.role == "assistant" and message.is_blank:
        return Dropped(line.place, _blank(message.finish))
    if wire.get("excludeFromContext"):
        return Dropped(line.place, "a command that the user kept out of the context")
    model = wire.get("model") if message.role == "assistant" else None
    return Said(line.place, message, model if isinstance(model, str) else "")


def _blank(finish: str) -> str:
    said = {"aborted": "an aborted", "error": "a failed"}.get(finish, "an")
    return f"{said} assistant message without content"


def _user(wire: Mapping[str, Any], **fields: Any) -> Message:
    return Message.user(text_or_parts(wire["content"]), **fields)


def _injected(wire: Mapping[str, Any], **fields: Any) -> Message:
    return Message.user(text_or_parts(wire.get("content", wire.get("summary"))), origin="harness", **fields)


def _assistant(wire: Mapping[str, Any], **fields: Any) -> Message:
    finish = str(wire.get("stopReason") or "")
    return Message(
        "assistant",
        text_or_parts(wire["content"]) if parts(wire["content"]) else None,
        calls=calls(wire["content"]),
        usage=_usage(wire.get("usage")),
        finish=_FINISH.get(finish, finish),
        **fields,
    )


def _result(wire: Mapping[str, Any], **fields: Any) -> Message:
    return Message.tool(
        str(wire["toolCallId"]),
        text_or_parts(wire["content"]),
        name=wire.get("toolName"),
        status="error" if wire.get("isError") else "",
        **fields,
    )


def _command(wire: Mapping[str, Any], **fields: Any) -> Message:
    """A shell command that the user ran, with what it printed."""
    end = "cancelled" if wire.get("cancelled") else f"exit code {wire.get('exitCode')}"
    return Message.user(f"I ran this command:\n$ {wire['command']}\n\n{wire.get('output', '')}\n[{end}]", **fields)


def _usage(wire: Any) -> Usage | None:
    """What the provider reported; None where all is zero, as for a request that was aborted before its first token."""
    if not isinstance(wire, Mapping):
        return None
    cost = wire.get("cost")
    total = cost.get("total") if isinstance(cost, Mapping) else None
    usage = Usage(
        input_tokens=count(wire, "input", "cacheRead", "cacheWrite"),
        output_tokens=count(wire, "output"),
        cached_tokens=count(wire, "cacheRead"),
        cost=float(total) if isinstance(total, int | float) else None,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


_MAKERS: dict[str, Callable[..., Message]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _command,
    "custom": _injected,
    "hookMessage": _injected,
    "custom_message": _injected,
    "branchSummary": _injected,
    "branch_summary": _injected,
}
