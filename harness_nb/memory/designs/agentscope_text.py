"""How AgentScope writes messages and instants down: for its flush, its session files and its daily log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from harness_nb.core.messages import Message, Text, ToolCall
from harness_nb.core.utf16 import has_half_pair, utf16_cut, utf16_len

CONTEXT_TAG = "<session_context>"
"""A user message with this tag holds what the harness put in; it is neither flushed nor offloaded."""

_ARGUMENT_CHARS = 500
_RESULT_CHARS = 1_000
_ROLES = {"user": "USER", "assistant": "ASSISTANT", "tool": "TOOL"}
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{0,9}))?Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Numbered = tuple[int, Message]


@dataclass(frozen=True, slots=True)
class Written:
    """Messages as one text.

    Attributes:
        indices: Log indices of those that are in it.
        lines: Their texts, in the same order.
    """

    indices: tuple[int, ...]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)

    @property
    def broken_at(self) -> int | None:
        """The first message whose text can't be encoded, as it was cut through a pair of surrogates; None for none."""
        return next((index for index, line in zip(self.indices, self.lines, strict=True) if has_half_pair(line)), None)


def written(messages: Iterable[Numbered]) -> Written:
    """The messages that are written down, each with its role in front; system and context messages are not."""
    found = [(index, f"[{_ROLES[one.role]}]: {text}") for index, one in messages if (text := _text(one))]
    return Written(tuple(index for index, _ in found), tuple(line for _, line in found))


def _text(message: Message) -> str:
    is_context = message.role == "user" and CONTEXT_TAG in message.text
    return "" if message.role == "system" or is_context else body(message)


def body(message: Message) -> str:
    """The text of a message: calls with up to 500 units of arguments, results with up to 1,000 a part; no pictures."""
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text.strip()]
    if message.role == "tool":
        short = [_cut(text, _RESULT_CHARS, "...(truncated)") for text in texts]
        head = f"[tool_result: {message.name}] " if message.name else "[tool_result] "
        return head + "\n".join(short)
    return "\n".join([*texts, *map(_call, message.calls)])


def _call(call: ToolCall) -> str:
    arguments = call.parsed()
    if not arguments:
        return f"[tool_call: {call.name}]"
    ordered = {key: arguments[key] for key in java_order(list(arguments))}
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
    return f"[tool_call: {call.name}({_cut(text, _ARGUMENT_CHARS, '...')})]"


def _cut(text: str, most: int, mark: str) -> str:
    return text if utf16_len(text) <= most else utf16_cut(text, 0, most) + mark


def java_order(keys: Sequence[str]) -> list[str]:
    """The order in which a Java hash map gives back keys that were put in one by one."""
    size = 16
    while len(keys) > 0.75 * size:
        size *= 2
    return sorted(keys, key=lambda key: _java_hash(key) & (size - 1))


def _java_hash(text: str) -> int:
    data = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for at in range(0, len(data), 2):
        found = (31 * found + int.from_bytes(data[at : at + 2])) & 0xFFFFFFFF
    return found ^ (found >> 16)


def nanoseconds(instant: str) -> int | None:
    """Nanoseconds since 1970 of an instant such as `2026-09-10T08:05:32.3Z`; None for a text that is none."""
    found = _INSTANT.fullmatch(instant.strip())
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{found[1]}+00:00")
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(seconds=1) * 1_000_000_000 + int((found[2] or "0").ljust(9, "0"))


def instant(nanos: int) -> str:
    """An instant as Java writes it: UTC, with no fraction or one of 3, 6 or 9 digits."""
    seconds, rest = divmod(nanos, 1_000_000_000)
    moment = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{rest:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{moment}.{digits}Z" if digits else f"{moment}Z"
