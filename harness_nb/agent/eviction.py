"""Moving a large tool result to a file before it counts as context, and what stays of it."""

from __future__ import annotations

from harness_nb.core.config import ToolResultEvictionConfig
from harness_nb.core.messages import Message
from harness_nb.core.preview import head_and_tail


def is_too_large(message: Message, settings: ToolResultEvictionConfig) -> bool:
    """Whether a result is to be moved: longer than the limit and not of a tool that is excluded."""
    return len(message.text) > settings.max_result_chars and message.name not in settings.excluded_tool_names


def placeholder(text: str, path: str, *, preview_chars: int, can_read: bool) -> str:
    """What stays of a result: its size, where the rest is, and head and tail.

    Args:
        text: The whole result.
        path: File that holds it, relative to the workspace.
        preview_chars: Characters of head and of tail, at most a quarter of the text each.
        can_read: Whether the model has `read_file`; without it the text says that the rest is out of its reach.
    """
    each = min(preview_chars, len(text) // 4)
    where = (
        f"Read it in pieces with read_file(path={path!r}, offset=0)."
        if can_read
        else "The rest is kept for the user; you have no tool to read it."
    )
    shown = head_and_tail(text, each, each)
    return f"[This result has {len(text):,} characters and was moved to {path}. {where}]\n" + shown.with_marker(
        "\n[... {omitted} characters not shown ...]\n"
    )
