"""Moving large results to files as soon as they are there: a notice and the beginning stay."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Evict, Reply
from harness_nb.core.view import View
from harness_nb.policies.openharness.config import OpenHarnessConfig

FOLDER = "tool_artifacts"
_LONGEST_NAME = 80
_NOTICE = (
    "[The result is too long to stand here and was moved to a file]\nTool: {tool}\nCall: {id}\nSize: {size} characters\n"
    "File: {path}\nShown: the first {shown} ({left} are left out)\n\nPreview:\n"
)
"""As long as OpenHarness' own notice, so that figures are exact."""


def artifact_path(tool: str, time: str, random: str) -> str:
    """Where OpenHarness files a result; live, the workspace gives the name.

    Args:
        tool: Name of the tool.
        time: `YYYYMMDD-HHMMSS`.
        random: Twelve hexadecimal digits.
    """
    name = (re.sub(r"[^A-Za-z0-9_.-]+", "_", tool.strip()) or "tool")[:_LONGEST_NAME]
    return f"{FOLDER}/{time}-{name}-{random}.txt"


def offloaded(view: View, config: OpenHarnessConfig) -> Plan:
    """Moves the large results of the round that just ended, as far as they can be filed."""
    fresh = sum(1 for _ in takewhile(lambda item: item.message.role == "tool", reversed(view.input)))
    start = len(view.input) - fresh
    found = [
        _offload(view, item, config) if at >= start and _is_large(item, config) else item
        for at, item in enumerate(view.input)
    ]
    if all(new is old for new, old in zip(found, view.input, strict=True)):
        return view.unchanged("no result is too large")
    return view.becomes(found, "moved large results to files", outcome="truncated")


def _is_large(item: Item, config: OpenHarnessConfig) -> bool:
    return item.how == "kept" and len(item.message.text) > config.inline_chars


def _offload(view: View, item: Item, config: OpenHarnessConfig) -> Item:
    message = item.message
    reply = view.reply(Evict(index=item.index or 0, call_id=message.call_id or "", text=message.text))
    if reply.failure is not None:
        return item
    preview = message.text[: config.preview_chars]
    made = edits.evicted(item, _notice(message, tool_of(view, message), reply, len(preview)) + preview, reply.text)
    figures = {"head": len(preview), "original": len(message.text), "omitted": len(message.text) - len(preview)}
    return replace(made, meta={**made.meta, **figures})


def tool_of(view: View, message: Message) -> str:
    """Name of the tool that a result comes from."""
    if message.name:
        return message.name
    calls = (call for item in reversed(view.input) for call in item.message.calls)
    return next((call.name for call in calls if call.id == message.call_id), "tool")


def _notice(message: Message, tool: str, reply: Reply, shown: int) -> str:
    size = len(message.text)
    return _NOTICE.format(tool=tool, id=message.call_id, size=size, path=reply.text, shown=shown, left=size - shown)
