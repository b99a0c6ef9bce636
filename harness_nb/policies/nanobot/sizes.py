"""Nanobot's estimates: of one message, and of a whole prompt."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness_nb.core.messages import Message
from harness_nb.core.tokens import Measure, TokenCounter
from harness_nb.core.tool import Tool

FRAME_TOKENS = 4

Estimator = Literal["tokens", "joined_tokens", "utf8_bytes", "missing"]


@dataclass(frozen=True, slots=True)
class _Bytes:
    """One token a byte."""

    name: str = "bytes"

    def count_text(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class _Quarters:
    """One token for four characters."""

    name: str = "characters / 4"

    def count_text(self, text: str) -> int:
        return len(text) // 4


class NanobotSizes:
    """Counts as Nanobot does; a message is measured once.

    Args:
        estimator: How: see `NanobotConfig`.
        measure: Counts tokens.
    """

    def __init__(self, estimator: Estimator, measure: Measure) -> None:
        own: dict[str, TokenCounter] = {"utf8_bytes": _Bytes(), "missing": _Quarters()}
        self._estimator = estimator
        self._counter = own.get(estimator, measure.counter)
        self._message = Measure(self._counter, _message_size)
        self._payload = Measure(self._counter, _payload_size)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._counter.count_text(text) if text else 0

    def message(self, message: Message) -> int:
        """Tokens of one message; parts that are no text count as their JSON."""
        return self._message(message)

    def prompt(self, messages: Sequence[Message], tools: Iterable[Tool] = ()) -> int:
        """Tokens of a whole prompt; parts that are no text count nothing. 0 where there is no tokenizer."""
        if self._estimator == "missing":
            return 0
        tokens = self._together(messages)
        schemas = [tool.schema for tool in tools]
        if schemas:
            tokens += self.text(("\n" if tokens else "") + _json(schemas))
        return tokens + FRAME_TOKENS * len(messages)

    def _together(self, messages: Sequence[Message]) -> int:
        """Tokens of all messages, a line feed between two; those of a tokenizer depend on what stands side by side."""
        if self._estimator == "joined_tokens":
            return self.text("\n".join(part for one in messages for part in _prompt_parts(one.to_openai())))
        sizes = [self._payload(one) for one in messages]
        filled = sum(size > 0 or bool(one.content == "") for size, one in zip(sizes, messages, strict=True))
        return sum(sizes) + max(0, filled - 1)


@functools.lru_cache(maxsize=8)
def sizes_of(estimator: Estimator, measure: Measure) -> NanobotSizes:
    """The sizes by a session's measure; policies that share it share what was counted."""
    return NanobotSizes(estimator, measure)


def _message_size(message: Message, counter: TokenCounter) -> int:
    payload = "\n".join(_parts(message.to_openai()))
    return max(FRAME_TOKENS, counter.count_text(payload) + FRAME_TOKENS) if payload else FRAME_TOKENS


def _payload_size(message: Message, counter: TokenCounter) -> int:
    payload = "\n".join(_prompt_parts(message.to_openai()))
    return counter.count_text(payload) if payload else 0


def _parts(wire: Mapping[str, Any]) -> list[str]:
    content = wire.get("content")
    found = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        texts = [part.get("text") or "" if _is_text(part) else _json(part) for part in content]
        found = [text for text in texts if text]
    found += [str(wire[key]) for key in ("name", "tool_call_id") if wire.get(key)]
    found += [json.dumps(wire["tool_calls"], ensure_ascii=False, sort_keys=True)] if wire.get("tool_calls") else []
    return found + _reasoning(wire)


def _prompt_parts(wire: Mapping[str, Any]) -> list[str]:
    content = wire.get("content")
    found = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        found = [part["text"] for part in content if _is_text(part) and part.get("text")]
    found += [json.dumps(wire["tool_calls"], ensure_ascii=False, sort_keys=True)] if wire.get("tool_calls") else []
    found += _reasoning(wire)
    return found + [str(wire[key]) for key in ("name", "tool_call_id") if wire.get(key)]


def _reasoning(wire: Mapping[str, Any]) -> list[str]:
    value = wire.get("reasoning_content")
    return [value] if isinstance(value, str) and value else []


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
