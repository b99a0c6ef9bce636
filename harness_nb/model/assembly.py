"""A reply put together from the pieces of a stream in OpenAI's form, as litellm gives them for every provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness_nb.core.messages import Message, ToolCall, Usage, to_json
from harness_nb.errors import ModelError
from harness_nb.model.base import CallDelta, Delta, TextDelta, ThinkingDelta

_LENGTH = ("length", "max_tokens")


@dataclass(slots=True)
class _Call:
    """One tool call so far."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    rest: dict[str, Any] = field(default_factory=dict)


class Assembly:
    """Takes the pieces of one stream and makes the message of them.

    Reasoning and what else a provider attaches (signatures above all) is kept in the message's `rest`, in the fields and
    with the bytes in which it came, so that it goes back unchanged.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._thinking: list[dict[str, Any]] = []
        self._fields: dict[str, Any] = {}
        self._calls: dict[int, _Call] = {}
        self._usage: Usage | None = None
        self._finish = ""

    @property
    def usage(self) -> Usage | None:
        """What was reported so far."""
        return self._usage

    def add(self, piece: Any) -> Iterator[Delta]:
        """Takes a piece in and yields what is new in it."""
        reported = _get(piece, "usage")
        if reported is not None:
            self._usage = _usage(reported)
        for choice in (_get(piece, "choices") or ())[:1]:
            self._finish = _get(choice, "finish_reason") or self._finish
            delta = _get(choice, "delta")
            if delta is not None:
                yield from self._add_delta(delta)

    def message(self) -> Message:
        """The whole reply.

        Raises:
            ModelError: The stream ended inside a tool call, or brought nothing at all.
        """
        calls = [call for _, call in sorted(self._calls.items())]
        cut = next((call for call in calls if _is_cut(call)), None)
        if cut is not None and self._finish not in _LENGTH:
            raise _unfinished(cut, "Ask again; the call was neither kept nor run.")
        text = "".join(self._text)
        whole = tuple(_tool_call(call) for call in calls if not _is_cut(call))
        if cut is not None and not text and not whole:
            raise _unfinished(cut, "Allow a longer reply; the call was neither kept nor run.")
        if not (text or whole or self._finish or self._usage):
            raise ModelError("The stream ended before anything came.", "Ask again.")
        return Message.assistant(
            text or None,
            whole,
            usage=self._usage,
            finish=self._finish,
            rest=to_json(rest) if (rest := self._rest()) else "",
        )

    def _add_delta(self, delta: Any) -> Iterator[Delta]:
        text, reasoning = _get(delta, "content"), _get(delta, "reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            self._reasoning.append(reasoning)
            yield ThinkingDelta(reasoning)
        if isinstance(text, str) and text:
            self._text.append(text)
            yield TextDelta(text)
        for part in _get(delta, "thinking_blocks") or ():
            self._add_thinking(_plain(part))
        _merge(self._fields, _plain(_get(delta, "provider_specific_fields")) or {})
        for at, piece in enumerate(_get(delta, "tool_calls") or ()):
            yield from self._add_call(at, piece)

    def _add_thinking(self, part: dict[str, Any]) -> None:
        """Joins the pieces of one reasoning part; a signature ends it."""
        last = self._thinking[-1] if self._thinking else None
        if part.get("type") == "thinking" and last and last.get("type") == "thinking" and not last.get("signature"):
            last["thinking"] = (last.get("thinking") or "") + (part.get("thinking") or "")
            last |= {key: value for key, value in part.items() if key not in ("type", "thinking") and value is not None}
        else:
            self._thinking.append(part)

    def _add_call(self, at: int, piece: Any) -> Iterator[Delta]:
        index = _get(piece, "index")
        position = index if isinstance(index, int) else at
        known = position in self._calls
        call = self._calls.setdefault(position, _Call())
        function = _get(piece, "function")
        name, arguments = _get(function, "name") or "", _get(function, "arguments") or ""
        call.id = call.id or _get(piece, "id") or ""
        call.name = call.name or name
        call.arguments += arguments
        _merge(
            call.rest,
            {"provider_specific_fields": fields} if (fields := _plain(_get(piece, "provider_specific_fields"))) else {},
        )
        if arguments or not known:
            yield CallDelta(position, "" if known else name, arguments)

    def _rest(self) -> dict[str, Any]:
        rest: dict[str, Any] = {}
        if self._reasoning:
            rest["reasoning_content"] = "".join(self._reasoning)
        if self._thinking:
            rest["thinking_blocks"] = self._thinking
        if self._fields:
            rest["provider_specific_fields"] = self._fields
        return rest


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _plain(value: Any) -> Any:
    """A provider's object as JSON values."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    return {key: one for key, one in value.items() if one is not None} if isinstance(value, Mapping) else value


def _merge(into: dict[str, Any], new: dict[str, Any]) -> None:
    """Later pieces add to lists and replace the rest."""
    for key, value in new.items():
        known = into.get(key)
        into[key] = known + value if isinstance(known, list) and isinstance(value, list) else value


def _usage(reported: Any) -> Usage:
    details = _get(reported, "prompt_tokens_details")
    cached = _get(details, "cached_tokens") or _get(reported, "cache_read_input_tokens") or 0
    return Usage(_get(reported, "prompt_tokens") or 0, _get(reported, "completion_tokens") or 0, cached)


def _is_cut(call: _Call) -> bool:
    """Whether a call has no name, or arguments that end too early; arguments that are wrong otherwise are the model's."""
    text = call.arguments.strip()
    if not call.name:
        return True
    try:
        json.loads(text or "{}")
    except json.JSONDecodeError as error:
        return error.pos >= len(text) or "Unterminated" in error.msg
    except RecursionError:
        return False
    return False


def _tool_call(call: _Call) -> ToolCall:
    return ToolCall(call.id, call.name, call.arguments or "{}", to_json(call.rest) if call.rest else "")


def _unfinished(call: _Call, remedy: str) -> ModelError:
    return ModelError(f"The stream ended inside a call of {call.name or 'a tool'!r}.", remedy, subject=call.name)
