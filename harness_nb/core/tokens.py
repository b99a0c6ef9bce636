"""Sizes in tokens: estimates of texts and messages, and the figure that starts from what the provider reported."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from harness_nb.core.config import positive
from harness_nb.core.messages import Image, Message, Part, Text, Thinking, to_json
from harness_nb.core.tool import Tool

IMAGE_TOKENS = 1_600
"""Tokens counted for one picture, however long its encoding: what Anthropic bills at the largest size it keeps
(width times height / 750, at most about 1,600); OpenAI bills between 85 and about 1,500 for one picture."""

MESSAGE_TOKENS = 4
"""Tokens counted for the frame of one message: the role and its marks in OpenAI's chat format."""

CALL_TOKENS = 8
"""Tokens counted for the frame of one tool call, its id included. A small overcount on purpose."""


class TokenCounter(Protocol):
    """Counts the tokens of a text; `name` says how, so that every estimate can say which it is."""

    @property
    def name(self) -> str:
        """How it counts."""
        ...

    def count_text(self, text: str) -> int:
        """Tokens of a text, at least 0."""
        ...


@dataclass(frozen=True, slots=True)
class CharsCounter:
    """Characters divided by a constant, rounded up. Four a token fits English; it is a quarter low on code."""

    per_token: float = 4.0

    def __post_init__(self) -> None:
        positive(self, "per_token")

    @property
    def name(self) -> str:
        """How it counts."""
        return f"characters/{self.per_token:g}"

    def count_text(self, text: str) -> int:
        """Tokens of a text."""
        return -int(-len(text) // self.per_token)


class Measure:
    """Size of a message under one counter; each message is measured once, however often it is asked for.

    Attributes:
        name: How it counts.

    Args:
        counter: Counts texts.
        size: Size of one message in tokens; by default the sum over its parts plus a small frame.
    """

    def __init__(self, counter: TokenCounter, size: Callable[[Message, TokenCounter], int] | None = None) -> None:
        self.counter = counter
        self.name = counter.name
        self._size = size or message_tokens
        self._known: dict[int, tuple[weakref.ref[Message], int]] = {}

    def __call__(self, message: Message) -> int:
        """Tokens of a message."""
        key = id(message)
        known = self._known.get(key)
        if known is not None and known[0]() is message:
            return known[1]
        size = self._size(message, self.counter)
        forget = self._known.pop
        self._known[key] = (weakref.ref(message, lambda _: forget(key, None)), size)
        return size

    def __reduce__(self) -> tuple[type[Measure], tuple[object, ...]]:
        """Counter and formula alone: what was measured is measured anew where it is unpickled."""
        return Measure, (self.counter, self._size)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self.counter.count_text(text) if text else 0

    def tools(self, tools: Iterable[Tool]) -> int:
        """Tokens of tool schemas as sent."""
        return sum(self.text(to_json(tool.schema)) for tool in tools)

    def total(self, messages: Iterable[Message]) -> int:
        """Tokens of several messages."""
        return sum(map(self, messages))


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Estimated tokens of a message: text, reasoning, calls and results, pictures at a fixed price, and a frame."""
    content = message.content
    if isinstance(content, str):
        size = MESSAGE_TOKENS + counter.count_text(content)
    else:
        size = MESSAGE_TOKENS + sum(part_tokens(part, counter) for part in message.parts)
    for call in message.calls:
        size += CALL_TOKENS + counter.count_text(call.name) + counter.count_text(call.arguments)
    if message.name:
        size += counter.count_text(message.name)
    return size + (_rest_tokens(message.rest, counter) if message.rest else 0)


def part_tokens(part: Part, counter: TokenCounter) -> int:
    """Estimated tokens of one part."""
    if isinstance(part, Text):
        return counter.count_text(part.text)
    if isinstance(part, Image):
        return IMAGE_TOKENS
    if isinstance(part, Thinking):
        return counter.count_text(part.text) if part.text else counter.count_text(part.raw)
    return value_tokens(json.loads(part.raw), counter)


_ENCODED_TYPES = ("image", "image_url", "input_image", "input_audio", "base64")


def value_tokens(value: Any, counter: TokenCounter) -> int:
    """Estimated tokens of any JSON value: its texts, nested results included; encoded files at a picture's price."""
    tokens = 0
    ahead = [value]
    while ahead:  # a value may be nested deeper than calls may be
        one = ahead.pop()
        if isinstance(one, str):
            tokens += IMAGE_TOKENS if _is_data_url(one) else counter.count_text(one)
        elif isinstance(one, dict) and one.get("type") in _ENCODED_TYPES:
            tokens += IMAGE_TOKENS
        elif isinstance(one, dict):
            ahead += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            ahead += one
        elif one is not None:
            tokens += 1
    return tokens


def _is_data_url(text: str) -> bool:
    return text.startswith("data:") and ";base64," in text[:200]


_SENT_BACK = ("reasoning_content", "thinking_blocks", "refusal", "function_call")


def _rest_tokens(rest: str, counter: TokenCounter) -> int:
    """Fields beside the content that a model reads; reasoning given twice counts once."""
    fields = json.loads(rest)
    if "thinking_blocks" in fields:
        fields.pop("reasoning_content", None)
    return sum(value_tokens(fields[name], counter) for name in _SENT_BACK if name in fields)


LARGEST_FACTOR = 2.0
"""Largest factor that is learnt from bills; tokenizers differ less, so more is something else that was sent."""

_UNCALIBRATED_TOKENS = 2_000  # as if so much had been estimated rightly before: the first bills do not say much


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far estimates are below the bill, learnt from how bills grow from call to call.

    What a list begins with, such as a prompt that nobody counted, is in every bill and so in no difference of two.

    Attributes:
        reported: Tokens by which bills grew.
        estimated: The estimate of the messages that they grew by.
    """

    reported: int = 0
    estimated: int = 0

    def grown(self, reported: int, estimated: int) -> Calibration:
        """With one difference more.

        One that is not above 0 says nothing, as something was taken out of the list; what is above the largest factor is
        something else that was added to it.
        """
        if reported <= 0 or estimated <= 0:
            return self
        likely = min(reported, round(estimated * LARGEST_FACTOR))
        return Calibration(self.reported + likely, self.estimated + estimated)

    @property
    def factor(self) -> float:
        """Factor on estimates, from 1, so that a chosen overcount stays, to `LARGEST_FACTOR`."""
        learnt = (self.reported + _UNCALIBRATED_TOKENS) / (self.estimated + _UNCALIBRATED_TOKENS)
        return min(max(learnt, 1.0), LARGEST_FACTOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFigure:
    """How large the model input is, and how that is known.

    Attributes:
        tokens: The figure that triggers.
        billed: The part of it that the provider reported, 0 when there is none.
        estimated: The part of it that is estimated.
        counter: How the estimate counts.
    """

    tokens: int
    billed: int
    estimated: int
    counter: str

    @property
    def source(self) -> str:
        """In words, for a person."""
        if not self.billed:
            return f"estimated by {self.counter}"
        return f"{self.billed:,} from the last bill plus an estimate of {self.estimated:,} since"
