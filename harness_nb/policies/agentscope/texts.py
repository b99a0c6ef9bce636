"""The texts that AgentScope's compaction sends and leaves behind, in words of our own."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message, Text
from harness_nb.core.prompts import SUMMARY_PROMPT
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.utf16 import utf16_cut, utf16_len

SUMMARY_NAME = "__compaction_summary__"
"""Name of the message that stands for what was summarised."""

NO_HISTORY = "Nothing was said before."
"""Stands as the summary where there is nothing to sum up."""

_BLANK = "(there is no summary)"
_FAILED = "(the summary failed: {why})"
_OPENING = "A summary of the conversation so far:\n\n"
_CITING = (
    "The conversation goes on from here. All of it is in the session's file, and this is a summary:\n\n<summary>\n{text}\n"
    "</summary>"
)
_RESULT_CHARS = 500
_LABELS = {"user": "Human", "assistant": "AI", "tool": "Tool"}


def summary_request(items: Sequence[Item], prompt: str | None) -> Ask:
    """The request for a summary: one message with the conversation in full, but for results and arguments.

    Args:
        items: What to sum up.
        prompt: An instruction with `{messages}` in it, everywhere replaced; None for the built-in one.
    """
    talk = "\n\n".join(line for item in items if (line := _line(item.message)))
    text = (SUMMARY_PROMPT if prompt is None else prompt).replace("{messages}", talk)
    return Ask(purpose="summary", messages=(Message.user(text, origin="harness"),), shown=covered(items))


def summary(reply: Reply, prefix: Sequence[Item], cites: bool) -> Item:
    """The message that stands for the prefix, also after a failure, which it then holds."""
    meta: dict[str, object] = {"cites": cites}
    text = reply.text.strip()
    if reply.failure is not None:
        text, meta["failed"] = _FAILED.format(why=reply.failure.detail), reply.failure.kind
    elif not text:
        text, meta["failed"] = _BLANK, "blank"
    if reply.assumed:
        meta["assumed"] = True
    shown = _CITING.format(text=text) if cites else f"{_OPENING}{text}"
    return Item(None, Message.user(shown, origin="harness", name=SUMMARY_NAME), "summary", covered(prefix), meta)


def _line(message: Message) -> str:
    """A message in the request for a summary: calls without their arguments, results up to 500 units."""
    if message.role == "system":
        return ""
    if message.role == "tool":
        text = " ".join(part.text for part in message.parts if isinstance(part, Text)).strip()
        short = text if utf16_len(text) <= _RESULT_CHARS else f"{utf16_cut(text, 0, _RESULT_CHARS)}..."
        pieces = [f"[tool_result: {message.name or '?'}] {short}"]
    else:
        pieces = [part.text.strip() for part in message.parts if isinstance(part, Text) and part.text.strip()]
        pieces += [f"[tool_call: {call.name}]" for call in message.calls]
    return f"{_LABELS[message.role]}: {' '.join(pieces)}" if pieces else ""


def placeholder(text: str, path: str, preview: int) -> str:
    """What stays of a result that was moved to a file: its size, its path, and head and tail of so many units."""
    said = (
        f"This result of {utf16_len(text):,} characters was moved to {path}. Read it there with read_file, in pieces. "
        "Its beginning and its end:"
    )
    if not preview:
        return said
    size = utf16_len(text)
    return f"{said}\n\n{utf16_cut(text, 0, preview)}\n\n[...]\n\n{utf16_cut(text, size - preview)}"
