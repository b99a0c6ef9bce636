"""OpenClaw's estimates: one for cuts and chunks, and heavier ones for what is about to be sent."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence

from harness_nb.core.item import Item
from harness_nb.core.js_json import js_json
from harness_nb.core.messages import Image, Message, Text, Thinking, ToolCall
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.weights import CHARS_PER_TOKEN, weighted_chars
from harness_nb.policies.openclaw.wording import SUMMARY_CLOSING, SUMMARY_OPENING

SAFETY_MARGIN = 1.2
"""Factor on an estimate wherever too little would do harm."""

_IMAGE_CHARS = 4_800
_PRESSURE_MESSAGE, _PRESSURE_PART, _PRESSURE_IMAGE = 12, 6, 2_000
_RESULT_CHARS_PER_TOKEN, _JSON_CHARS_PER_TOKEN = 2, 3
_GUARD_IMAGE_CHARS = 8_000
_OTHER_CHARS = 256


def measured_once(size: Callable[[Message], int]) -> Callable[[Message], int]:
    """A size that is worked out once for a message, as long as that is there."""
    return Measure(CharsCounter(), lambda message, _: size(message))


def summary_text(item: Item) -> str | None:
    """The summary in an item, without what is wrapped around it; None for any other item."""
    return _summary(item.message) if item.index is None else None


def _summary(message: Message) -> str | None:
    if message.origin != "harness" or not message.text.startswith(SUMMARY_OPENING):
        return None
    return message.text.removeprefix(SUMMARY_OPENING).removesuffix(SUMMARY_CLOSING)


def thinking(message: Message) -> str:
    """The reasoning of an answer, wherever it stands in the message."""
    parts = [part.text for part in message.parts if isinstance(part, Thinking)]
    if parts or not message.rest:
        return "\n".join(parts)
    beside = json.loads(message.rest).get("reasoning_content")
    return beside if isinstance(beside, str) else ""


def arguments(call: ToolCall) -> str:
    """A call's arguments, as JavaScript writes the parsed value."""
    parsed = call.parsed()
    return call.arguments if parsed is None else js_json(parsed)


def texts(message: Message) -> list[str]:
    """The texts of a message's text parts."""
    return [part.text for part in message.parts if isinstance(part, Text)]


def images(message: Message) -> int:
    """How many pictures a message holds."""
    return sum(isinstance(part, Image) for part in message.parts)


@measured_once
def result_chars(message: Message) -> int:
    """UTF-16 units in the text parts of a message."""
    return sum(map(utf16_len, texts(message)))


def tokens(item: Item) -> int:
    """Tokens by a quarter of the characters, a picture as 1,200; a summary counts without its wrapping."""
    return message_tokens(item.message)


@measured_once
def message_tokens(message: Message) -> int:
    """The same for a message."""
    if message.role == "system":
        return 0
    earlier = _summary(message)
    if earlier is not None:
        return quarter(utf16_len(earlier))
    chars = result_chars(message) + images(message) * _IMAGE_CHARS
    if message.role == "assistant":
        chars = result_chars(message) + utf16_len(thinking(message))
        chars += sum(utf16_len(call.name) + utf16_len(arguments(call)) for call in message.calls)
    return quarter(chars)


def quarter(chars: int) -> int:
    """Tokens of a number of characters."""
    return -(-chars // CHARS_PER_TOKEN)


def total(items: Iterable[Item]) -> int:
    """Tokens of some items."""
    return sum(map(tokens, items))


def context_tokens(items: Sequence[Item]) -> int:
    """Tokens of a list: the last bill of an answer in it and an estimate of what came after; without one, an estimate."""
    for at in range(len(items) - 1, -1, -1):
        usage = items[at].message.usage
        if usage is not None and items[at].message.finish not in ("aborted", "error", "interrupted"):
            return usage.input_tokens + usage.output_tokens + total(items[at + 1 :])
    return total(items)


# What is about to be sent, heavier than above


def pressure(item: Item) -> int:
    """Tokens of a message as sent: results at two characters, JSON at three, a frame for message and parts."""
    return _pressure(item.message)


@measured_once
def _pressure(message: Message) -> int:
    if _summary(message) is not None:
        return _PRESSURE_MESSAGE + _text_pressure(message.text)
    size = _PRESSURE_MESSAGE + images(message) * _PRESSURE_IMAGE
    if message.role == "tool":
        size += sum(_PRESSURE_PART + _result_pressure(text) for text in texts(message))
        return size + _share(message.name or "", _JSON_CHARS_PER_TOKEN)
    parts = [*texts(message), *([told] if (told := thinking(message)) else [])]
    size += sum(_PRESSURE_PART + _text_pressure(text) for text in parts)
    return size + sum(map(_call_pressure, message.calls))


def _call_pressure(call: ToolCall) -> int:
    written = _share(call.name, _JSON_CHARS_PER_TOKEN) + _share(arguments(call), _JSON_CHARS_PER_TOKEN)
    return _PRESSURE_PART + written


def _text_pressure(text: str) -> int:
    return _share(text, CHARS_PER_TOKEN)


def _result_pressure(text: str) -> int:
    return max(-(-utf16_len(text) // _RESULT_CHARS_PER_TOKEN), _text_pressure(text))


def _share(text: str, chars_per_token: int) -> int:
    return -(-weighted_chars(text) // chars_per_token)


def request_pressure(items: Iterable[Item], system: str, prompt: str) -> int:
    """Tokens of a request with its system prompt and the new message of the user, with a margin."""
    size = sum(map(pressure, items)) + _PRESSURE_MESSAGE + _text_pressure(prompt)
    if system.strip():
        size += _PRESSURE_MESSAGE + _text_pressure(system)
    return max(0, math.ceil(size * SAFETY_MARGIN))


# Characters, for the guard in the tool loop and for pruning


def guard_chars(item: Item) -> int:
    """Characters as the guard of the tool loop counts: results twice, pictures as 8,000."""
    return _guard_chars(item.message)


@measured_once
def _guard_chars(message: Message) -> int:
    chars = result_chars(message)
    if message.role == "assistant":
        return chars + utf16_len(thinking(message)) + sum(utf16_len(arguments(call)) for call in message.calls)
    chars += images(message) * _GUARD_IMAGE_CHARS
    return 2 * chars if message.role == "tool" else chars


def pruning_chars(item: Item) -> int:
    """Characters as the pruning of old results counts: East Asian ones four times, pictures as 8,000."""
    return _pruning_chars(item.message)


@measured_once
def _pruning_chars(message: Message) -> int:
    if _summary(message) is not None:
        return _OTHER_CHARS
    chars = sum(map(weighted_chars, texts(message)))
    if message.role == "assistant":
        return chars + weighted_chars(thinking(message)) + sum(utf16_len(arguments(call)) for call in message.calls)
    return chars + images(message) * _GUARD_IMAGE_CHARS
