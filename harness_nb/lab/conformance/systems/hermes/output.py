"""Hermes' lists in the words of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.lab.conformance.compare import Worded
from harness_nb.lab.conformance.driving import verbatim

_ARGUMENT_HEAD = 200
_MEASURED_TOOLS = frozenset({"terminal", "read_file"})
"""Tools whose one-line description is as long as the system's own; the others' lengths are ours."""


def output(item: Item) -> dict[str, Any]:
    """One item as a recording has it."""
    meta = item.meta
    if meta.get("hermes") == "summary":
        return _summary(item)
    if item.index is None:
        return {"kind": "note", "note": "todo_list" if meta.get("hermes") == "todo" else "no_user_marker"}
    if meta.get("removed"):
        filled = {"content_filled": True} if meta.get("filled") else {}
        return {**_truncated(item, "tool_calls"), "calls_removed": meta["removed"], **filled}
    if item.how == "cleared":
        return _placeholder(item)
    if meta.get("arguments"):
        calls = [{"id": one.id, "chars": len(one.arguments)} for one in item.message.calls if one.id in _cut(item)]
        return {**_truncated(item, "arguments"), "calls": calls, "head": _ARGUMENT_HEAD, "tail": 0}
    if meta.get("images"):
        return {**_truncated(item, "images"), "removed": meta["images"]}
    return {**verbatim(item), **({"note_appended": True} if meta.get("noted") else {})}


def _cut(item: Item) -> Any:
    return item.meta["arguments"]


def _truncated(item: Item, field: str) -> dict[str, Any]:
    return {"kind": "truncated", "index": item.index, "field": field}


def _summary(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "summary", "role": item.message.role}
    if item.meta.get("merged"):
        found["merged_with"] = "earlier_summary" if item.index is None else item.index
    return found


def _placeholder(item: Item) -> dict[str, Any]:
    tool = item.meta.get("tool")
    length = len(item.message.text)
    is_measured = item.meta["why"] != "one_line" or tool in _MEASURED_TOOLS
    found = {
        "kind": "placeholder",
        "index": item.index,
        "why": item.meta["why"],
        "chars": length if is_measured else Worded(length),
    }
    return {**found, "tool": tool} if tool else found


def roles(items: Iterable[Item]) -> str:
    """First letters of the roles of a list."""
    return "".join(item.message.role[0] for item in items)


def holds_words_of_ours(items: Sequence[Item], log: Sequence[Message]) -> bool:
    """Whether a list holds a message that was not said as it stands there."""
    return any(item.index is None or item.message != log[item.index] for item in items)


def summaries(items: Iterable[Item]) -> list[dict[str, Any]]:
    """What is known of the newest summary of a list."""
    found = [item for item in items if item.meta.get("hermes") == "summary"]
    return [_described(item) for item in found[-1:]]


def _described(item: Item) -> dict[str, Any]:
    meta, length = item.meta, len(item.message.text)
    is_worded = meta["source"] == "fallback" or "[redacted" in item.message.text
    body = meta["body_chars"]
    return {
        "source": meta["source"],
        "role": item.message.role,
        "message_chars": Worded(length) if is_worded else length,
        "body_chars": Worded(body) if is_worded else body,  # type: ignore[call-overload]  # a number of ours
        "task_index": meta["task"],
    }
