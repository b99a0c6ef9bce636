"""Nanobot's estimates: of one message, and of a whole prompt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from harness_nb.core.messages import Message
from harness_nb.core.tokens import Measure
from harness_nb.core.tool import Tool

FRAME_TOKENS = 4
_CHARS_PER_TOKEN = 4


class NanobotSizes:
    """Counts as Nanobot does.

    Args:
        estimator: `tokens`, `utf8_bytes` or `missing`.
        measure: Counts tokens.
    """

    def __init__(self, estimator: Literal["tokens", "utf8_bytes", "missing"], measure: Measure) -> None:
        self._estimator = estimator
        self._measure = measure

    def text(self, text: str) -> int:
        """Tokens of a text."""
        if self._estimator == "tokens":
            return self._measure.text(text)
        if self._estimator == "missing":
            return len(text) // _CHARS_PER_TOKEN
        return len(text.encode("utf-8", "surrogatepass"))

    def message(self, message: Message) -> int:
        """Tokens of one message; parts that are no text count as their JSON."""
        payload = "\n".join(_parts(message.to_openai()))
        return max(FRAME_TOKENS, self.text(payload) + FRAME_TOKENS) if payload else FRAME_TOKENS

    def prompt(self, messages: Sequence[Message], tools: Iterable[Tool] = ()) -> int:
        """Tokens of a whole prompt; parts that are no text count nothing. 0 where there is no tokenizer."""
        if self._estimator == "missing":
            return 0
        payload = "\n".join(part for one in messages for part in _prompt_parts(one.to_openai()))
        schemas = [tool.schema for tool in tools]
        tokens = self.text(payload) if payload else 0
        if schemas:
            tokens += self.text(("\n" if payload else "") + _json(schemas))
        return tokens + FRAME_TOKENS * len(messages)


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
