"""Which tool results are moved to files before they count as context."""

from __future__ import annotations

from harness_nb.core.config import ToolResultEvictionConfig
from harness_nb.core.messages import Message


def is_too_large(message: Message, settings: ToolResultEvictionConfig) -> bool:
    """Whether a result is to be moved: longer than the limit and not of a tool that is excluded."""
    return len(message.text) > settings.max_result_chars and message.name not in settings.excluded_tool_names
