"""AgentScope's estimate of a message: 2.5 UTF-16 units a token, each text rounded up by itself."""

from __future__ import annotations

from collections.abc import Mapping

from harness_nb.core.messages import Message, Text, ToolCall
from harness_nb.core.utf16 import utf16_len

_ROLES = {"user": "USER", "assistant": "ASSISTANT", "tool": "TOOL", "system": "SYSTEM"}


class AgentScopeSize:
    """Tokens of a message by AgentScope's formula: 2.5 UTF-16 units a token, each text rounded up by itself.

    Args:
        raw_content: Whether argument texts count beside the parsed arguments.
    """

    def __init__(self, raw_content: bool = False) -> None:
        self.raw_content = raw_content

    def __call__(self, message: Message) -> int:
        """Tokens of one message."""
        tokens = 5 + self.text(_ROLES[message.role])
        if message.role == "tool":
            return tokens + 8 + self.text(message.name) + self.text(message.call_id) + self._parts(message)
        calls = sum(map(self._call, message.calls))
        return tokens + self.text(message.name) + self._parts(message) + calls

    def text(self, text: str | None) -> int:
        """Tokens of one text."""
        return -(-2 * utf16_len(text) // 5) if text else 0

    def _parts(self, message: Message) -> int:
        return sum(self.text(part.text) if isinstance(part, Text) else 5 for part in message.parts)

    def _call(self, call: ToolCall) -> int:
        raw = self.text(call.arguments) if self.raw_content else 0
        return 10 + self.text(call.name) + self.text(call.id) + self.text(arguments_text(call)) + raw


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as AgentScope's estimate writes them: texts in quotes, nothing escaped."""
    arguments = call.parsed()
    if not arguments:
        return ""
    return "{" + ",".join(f'"{key}":{_java(value, True)}' for key, value in arguments.items()) + "}"


def _java(value: object, quotes: bool = False) -> str:
    """A JSON value as Java prints it."""
    if isinstance(value, str):
        return f'"{value}"' if quotes else value
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_java(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_java, value)) + "]"
    return str(value)
