"""Hermes' two estimates: one for the trigger, from a message's printed form, and one for where to cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Image, Message, Text
from harness_nb.core.tokens import CharsCounter, Measure, TokenCounter

IMAGE_TOKENS = 1_500
"""Tokens of a picture in the estimate that triggers."""

WALK_IMAGE_CHARS = 6_400
"""Characters that a picture counts as where the end to be kept is measured: 1,600 tokens."""

_CHARS_PER_TOKEN = 4
_STUB = "[stripped]"
_HIDDEN = ("reasoning", "reasoning_content", "reasoning_details")


def printed_chars(message: Message, counter: TokenCounter | None = None) -> int:
    """Characters of a message as Python prints its mapping; a picture is a stub and 6,000 characters."""
    wire = message.to_openai()
    pictures = 0
    if isinstance(wire.get("content"), list):
        wire["content"] = [_stubbed(part) for part in wire["content"]]
        pictures = sum(isinstance(part, Image) for part in message.parts)
    return len(str(wire)) + pictures * IMAGE_TOKENS * _CHARS_PER_TOKEN


def _stubbed(part: Any) -> Any:
    if isinstance(part, dict) and str(part.get("type", "")) in ("image_url", "image", "input_image"):
        return {"type": part["type"], "image": _STUB}
    return part


def walk_tokens(message: Message) -> int:
    """Tokens of a message where the end to be kept is measured: content, calls, reasoning, and ten for the frame."""
    chars = sum(_part_chars(part) for part in message.parts)
    tokens = chars // _CHARS_PER_TOKEN + 10
    if message.calls:
        tokens += sum(len(str(call)) // _CHARS_PER_TOKEN for call in message.to_openai()["tool_calls"])
    return tokens + (_hidden_chars(message.rest) // _CHARS_PER_TOKEN if message.rest else 0)


def _part_chars(part: object) -> int:
    if isinstance(part, Text):
        return len(part.text)
    return WALK_IMAGE_CHARS if isinstance(part, Image) else 0


def _hidden_chars(rest: str) -> int:
    fields = json.loads(rest)
    return sum(len(value if isinstance(value, str) else str(value)) for key in _HIDDEN if (value := fields.get(key)))


class PrintedSize:
    """The estimate that triggers; a message is measured once."""

    def __init__(self) -> None:
        self._measure = Measure(CharsCounter(), printed_chars)

    def of_input(self, items: ModelInput, more_chars: int = 0, *, system: str = "") -> int:
        """Tokens of a model input.

        Args:
            items: The list; its sums are kept with it.
            more_chars: Characters that are counted beside them.
            system: System prompt that counts as one more message.
        """
        chars = items.messages.tokens(self._measure) + more_chars
        return tokens_of_chars(chars + (printed_chars(Message.system(system)) if system else 0))

    def of(self, messages: Iterable[Message]) -> int:
        """Tokens of some messages."""
        return tokens_of_chars(self._measure.total(messages))


def tokens_of_chars(chars: int) -> int:
    """Tokens of a number of characters, rounded as Hermes does: any rest counts."""
    return (chars + 3) // _CHARS_PER_TOKEN


def text_tokens(text: str) -> int:
    """Tokens of a text, such as the system prompt."""
    return tokens_of_chars(len(text))
