"""Gemini CLI's sizes: characters of a turn as compact JSON, and a token estimate in quarters of a token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from harness_nb.core.js_json import js_json
from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall
from harness_nb.core.utf16 import utf16_len

QUARTERS = 4
"""Quarters in a token: every weight is a multiple of a quarter, so that sums are exact."""

_HEAVY_QUARTERS = 6
_LONG_CHARS = 100_000
_IMAGE_QUARTERS = 3_000 * QUARTERS
_PDF_QUARTERS = 25_800 * QUARTERS
_PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a turn as Gemini CLI sends it.

    Attributes:
        chars: Length of its compact JSON.
        quarters: Its token estimate, in quarters.
        is_media: Whether it is a picture or a document that stands in the turn itself.
    """

    chars: int
    quarters: int
    is_media: bool = False


@dataclass(frozen=True, slots=True)
class Sized:
    """A message as parts of a turn.

    Attributes:
        parts: Its parts.
        is_invalid: Whether it makes the run of model messages that it stands in vanish.
    """

    parts: tuple[Part, ...]
    is_invalid: bool = False

    @property
    def chars(self) -> int:
        """Length of the parts as JSON, commas between them left out."""
        return sum(part.chars for part in self.parts)

    @property
    def quarters(self) -> int:
        """Token estimate, in quarters."""
        return sum(part.quarters for part in self.parts)

    @property
    def has_media(self) -> bool:
        """Whether media stand in it."""
        return any(part.is_media for part in self.parts)


def text_quarters(text: str) -> int:
    """Token estimate of a text in quarters: 1 for an ASCII unit and 6 for any other; 1 for each in a long text."""
    length = utf16_len(text)
    if length > _LONG_CHARS or text.isascii():
        return length
    light = len(text.encode("ascii", "ignore"))
    return light + _HEAVY_QUARTERS * (length - light)


def text_tokens(text: str) -> int:
    """Token estimate of a text by itself."""
    return text_quarters(text) // QUARTERS


def json_chars(text: str) -> int:
    """UTF-16 units of a text as JavaScript writes it in JSON."""
    written = utf16_len(json.dumps(text, ensure_ascii=False))
    return written if text.isascii() else written + 5 * sum("\ud800" <= char <= "\udfff" for char in text)


def text_part(text: str) -> Part:
    """A part of text."""
    return Part(len('{"text":}') + json_chars(text), text_quarters(text))


def sized(message: Message, *, nested: bool = False) -> Sized:
    """A message as parts of a turn; a result has the name of its tool.

    Args:
        message: The message.
        nested: Whether media of a result stand inside it.
    """
    if message.role == "tool":
        return Sized(_result(message, nested))
    parts = [part for one in message.parts if (part := _part(one)) is not None]
    if message.role != "assistant":
        return Sized(tuple(parts))
    texts = [one.text for one in message.parts if isinstance(one, Text)]
    if message.calls and not "".join(texts).strip():
        parts = []
    parts += map(_call, message.calls)
    return Sized(tuple(parts), is_invalid=not parts or (not message.calls and "" in texts))


def _part(part: object) -> Part | None:
    """A part of a prompt or an answer; None for reasoning, which is not kept."""
    if isinstance(part, Text):
        return text_part(part.text)
    if isinstance(part, Thinking):
        return None
    return _media(part)


def _media(part: object) -> Part | None:
    url = part.url if isinstance(part, Image) else _file_url(part) if isinstance(part, Opaque) else ""
    if url.startswith("data:"):
        kind, _, data = url[len("data:") :].partition(",")
        kind = kind.split(";")[0]
        inline = {"inlineData": {"mimeType": kind, "data": ""}}
        return Part(len(js_json(inline)) + len(data), _PDF_QUARTERS if kind == _PDF else _IMAGE_QUARTERS, is_media=True)
    if isinstance(part, Image):
        return Part(len(js_json({"fileData": {"fileUri": url}})), _IMAGE_QUARTERS, is_media=True)
    chars = utf16_len(part.raw) if isinstance(part, Opaque) else 0
    return Part(chars, chars)


def _file_url(part: Opaque) -> str:
    """The data of a file that came in OpenAI's form, or empty."""
    value = json.loads(part.raw)
    held = value.get("file") if isinstance(value, Mapping) else None
    data = held.get("file_data") if isinstance(held, Mapping) else None
    return data if isinstance(data, str) else ""


def _call(call: ToolCall) -> Part:
    parsed = call.parsed()
    arguments: Any = {} if parsed is None else parsed
    chars = utf16_len(js_json({"functionCall": {"id": call.id, "name": call.name, "args": arguments}}))
    return Part(chars, chars)


def _result(message: Message, nested: bool) -> tuple[Part, ...]:
    """A result, and its media inside or beside it."""
    media = [part for one in message.parts if not isinstance(one, Text) and (part := _part(one)) is not None]
    response = len('{"output":}') + json_chars(message.text)
    tool = message.name or ""
    frame = {"functionResponse": {"id": message.call_id or "", "name": tool, "response": 0}}
    chars = utf16_len(js_json(frame)) - 1 + response
    quarters = utf16_len(tool) + response
    if nested and media:
        inside = len(',"parts":[]') + sum(part.chars for part in media) + len(media) - 1
        return (Part(chars + inside, quarters + sum(part.quarters for part in media)),)
    return (Part(chars, quarters), *media)


class Sizes:
    """Sizes of messages, each taken once as long as the message lives.

    Args:
        nested: Whether media of a result stand inside it.
    """

    def __init__(self, nested: bool = False) -> None:
        self._nested = nested
        self._known: WeakKeyDictionary[Message, Sized] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type[Sizes], tuple[bool]]:
        """Without what was taken already."""
        return Sizes, (self._nested,)

    def __call__(self, message: Message) -> Sized:
        """A message as parts of a turn."""
        found = self._known.get(message)
        if found is None:
            found = self._known[message] = sized(message, nested=self._nested)
        return found

    def quarters(self, message: Message) -> int:
        """Token estimate of a message, in quarters."""
        return self(message).quarters

    def invalid(self, message: Message) -> int:
        """1 for a blank answer, else 0."""
        return int(self(message).is_invalid)

    def output_tokens(self, message: Message) -> int:
        """Token estimate of a result by itself, media beside it left out; 0 for any other message."""
        return self(message).parts[0].quarters // QUARTERS if message.role == "tool" else 0
