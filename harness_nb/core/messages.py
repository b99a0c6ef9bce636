"""One message of a conversation and its parts, and the way to and from OpenAI chat format.

Both ways are lossless: what this module does not understand is kept as the JSON text it came in, so that signed and
provider-made parts go back byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from harness_nb.errors import MessageError

Role = Literal["system", "user", "assistant", "tool"]
Origin = Literal["user", "model", "tool", "harness"]

ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
_ORIGIN_OF_ROLE: dict[str, Origin] = {"system": "harness", "user": "user", "assistant": "model", "tool": "tool"}
_OTHER_NAMES = {"developer": "system", "function": "tool"}
_THINKING_TYPES = {"thinking", "redacted_thinking", "reasoning"}
_FUNCTION_PLACE = ("function", "arguments")
_CUSTOM_PLACE = ("custom", "input")


def to_json(value: object) -> str:
    """Compact JSON that keeps every character, lone surrogates as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() or _encodable(text) else json.dumps(value, separators=(",", ":"))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. `rest` is the JSON text of fields beside it (cache marks, citations), or empty."""

    text: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by address or as a data URL. `raw` is the part's JSON text as it came."""

    url: str
    raw: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning, as a rule signed by the provider. `raw` goes back byte for byte."""

    text: str
    raw: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that only its provider understands. `raw` goes back byte for byte."""

    raw: str

    @property
    def type(self) -> str:
        """The provider's name for this kind of part."""
        value = json.loads(self.raw)
        return str(value.get("type", "")) if isinstance(value, dict) else ""


Part = Text | Image | Thinking | Opaque


_REPR_CHARS = 80


def _beginning(text: str) -> str:
    """The beginning of a text for a repr, which shows no key."""
    from harness_nb.core.redact import redact  # which itself knows messages

    shown = redact(text[: 50 * _REPR_CHARS])
    return shown if len(shown) <= _REPR_CHARS else f"{shown[: _REPR_CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool.

    Attributes:
        id: Links the call to its result.
        name: Name of the tool.
        arguments: The arguments as the model wrote them, as a rule a JSON object.
        rest: JSON text of the fields beside these, or empty.
        is_encoded: True when the wire form holds the arguments as JSON text, False when it holds the value itself.
    """

    id: str
    name: str
    arguments: str = "{}"
    rest: str = ""
    is_encoded: bool = True

    def __repr__(self) -> str:
        """Id, name and the beginning of the arguments, keys masked."""
        return f"ToolCall({self.id!r}, {self.name!r}, {_beginning(self.arguments)!r})"

    def parsed(self) -> dict[str, Any] | None:
        """The arguments as a dict, or None when they are not a JSON object."""
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost as the provider reported them, never estimated.

    Attributes:
        input_tokens: Whole prompt, whatever was read from or written to the cache included.
        output_tokens: Completion, reasoning included.
        cached_tokens: Part of `input_tokens` that was read from the provider's cache.
        cost: US dollars, or None when it is not known.
    """

    input_tokens: int
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Message:
    """One message, immutable.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        content: A text, a tuple of parts, or None (an assistant that only calls tools).
        calls: Tool calls of an assistant, in order.
        call_id: For a tool result, the id of the call it answers.
        name: Name of the tool or of the author, where given.
        origin: Who made the message: `user`, `model`, `tool`, or `harness` for all that we put in ourselves.
        status: Of a tool result: empty or `ok`, `error`, `denied`, `interrupted`.
        time: When it was said, where known.
        usage: What the provider reported for the request that brought this reply.
        finish: The provider's reason for the end of this reply, where known.
        rest: JSON text of further fields of the wire format, or empty.
        omits_content: True when the wire form had no `content` key at all.
    """

    role: Role
    content: str | tuple[Part, ...] | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    origin: Origin | None = None
    status: str = ""
    time: datetime | None = None
    usage: Usage | None = None
    finish: str = ""
    rest: str = ""
    omits_content: bool = False

    def __repr__(self) -> str:
        """Role and the beginning of the text, keys masked."""
        calls = f", calls={len(self.calls)}" if self.calls else ""
        return f"Message({self.role!r}, {_beginning(self.text)!r}{calls})"

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise MessageError(f"{self.role!r} is no role.", f"Use one of {', '.join(ROLES)}.", subject=self.role)
        if self.origin is None:
            object.__setattr__(self, "origin", _ORIGIN_OF_ROLE[self.role])

    @classmethod
    def system(cls, text: str) -> Message:
        """A system message."""
        return cls("system", text)

    @classmethod
    def user(cls, content: str | Iterable[Part], *, origin: Origin = "user", **fields: Any) -> Message:
        """A user message."""
        return cls("user", content if isinstance(content, str) else tuple(content), origin=origin, **fields)

    @classmethod
    def assistant(cls, text: str | None = None, calls: Iterable[ToolCall] = (), **fields: Any) -> Message:
        """An assistant message, with tool calls or without."""
        return cls("assistant", text, calls=tuple(calls), **fields)

    @classmethod
    def tool(cls, call_id: str, content: str | tuple[Part, ...], **fields: Any) -> Message:
        """The result of one tool call."""
        return cls("tool", content, call_id=call_id, **fields)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content as parts, whatever form it has."""
        if self.content is None:
            return ()
        return (Text(self.content),) if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        """All text parts, joined by line feeds."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def is_blank(self) -> bool:
        """True when there is neither a call nor anything but white space to see."""
        return not self.calls and not any(not isinstance(p, Text) or p.text.strip() for p in self.parts)

    def with_text(self, text: str) -> Message:
        """The same message with its text replaced, in the place of its first; parts that are no text stay as they are."""
        if not isinstance(self.content, tuple):
            return replace(self, content=text)
        at = next((at for at, part in enumerate(self.content) if isinstance(part, Text)), len(self.content))
        others = tuple(part for part in self.content[at:] if not isinstance(part, Text))
        return replace(self, content=(*self.content[:at], Text(text), *others))

    def to_openai(self) -> dict[str, Any]:
        """The message in OpenAI chat format, as it came where it came from there."""
        wire: dict[str, Any] = {"role": self.role}
        if self.content is not None or not self.omits_content:
            wire["content"] = _content_to_openai(self.content)
        if self.calls:
            wire["tool_calls"] = [_call_to_openai(call) for call in self.calls]
        if self.call_id is not None:
            wire["tool_call_id"] = self.call_id
        if self.name is not None:
            wire["name"] = self.name
        return wire | _loads(self.rest)

    @classmethod
    def from_openai(cls, wire: Mapping[str, Any], **fields: Any) -> Message:
        """A message from OpenAI chat format.

        Args:
            wire: The message as a mapping. It is not changed.
            **fields: What the format has no place for: origin, status, time, usage, finish.

        Raises:
            MessageError: The mapping is no message; says which field is wrong.
        """
        if not isinstance(wire, Mapping):
            raise MessageError(f"A message is a mapping, not {type(wire).__name__}.", "Give it a role and a content.")
        named = wire.get("role")
        role = _OTHER_NAMES.get(named, named) if isinstance(named, str) else named
        if role not in ROLES:
            raise MessageError(f"{named!r} is no role.", f"Use one of {', '.join(ROLES)}.", subject=named)
        calls, answered, name = wire.get("tool_calls"), wire.get("tool_call_id"), wire.get("name")
        if calls and not isinstance(calls, list | tuple):
            raise MessageError(
                f"tool_calls can't be a {type(calls).__name__}.", "Give a list of calls.", subject="tool_calls"
            )
        is_odd = {
            "role": named != role,
            "tool_calls": not calls,
            "tool_call_id": _id_from_openai(answered) is None,
            "name": not isinstance(name, str),
        }
        rest = {key: value for key, value in wire.items() if is_odd.get(key, key != "content")}
        return cls(
            role=role,
            content=_content_from_openai(wire.get("content")),
            calls=tuple(_call_from_openai(call) for call in calls or ()),
            call_id=_id_from_openai(answered),
            name=None if is_odd["name"] else name,
            rest=_beside(rest),
            omits_content="content" not in wire,
            **fields,
        )


def _beside(fields: dict[str, Any]) -> str:
    """JSON text of further fields, in an order of its own, so that equal messages have equal text."""
    return to_json(dict(sorted(fields.items()))) if fields else ""


def _loads(rest: str) -> dict[str, Any]:
    return json.loads(rest) if rest else {}


def _content_to_openai(content: str | tuple[Part, ...] | None) -> str | list[Any] | None:
    return [part_to_openai(part) for part in content] if isinstance(content, tuple) else content


def _content_from_openai(content: object) -> str | tuple[Part, ...] | None:
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return tuple(part_from_openai(part) for part in content)
    raise MessageError(
        f"The content of a message can't be a {type(content).__name__}.",
        "Use a text, a list of parts or null.",
        subject="content",
    )


def _id_from_openai(value: object) -> str | None:
    """An id as text, since some servers number their calls."""
    return str(value) if isinstance(value, str | int) else None


def part_to_openai(part: Part) -> Any:
    """One content part in OpenAI chat format."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} | _loads(part.rest)
    return json.loads(part.raw)


def part_from_openai(wire: object) -> Part:
    """One content part from OpenAI chat format; what is not known becomes opaque."""
    if not isinstance(wire, Mapping):
        return Opaque(to_json(wire))
    kind, text = wire.get("type"), wire.get("text")
    if kind == "text" and isinstance(text, str):
        rest = {key: value for key, value in wire.items() if key not in ("type", "text")}
        return Text(text, _beside(rest))
    if kind == "image_url":
        place = wire.get("image_url")
        url = place.get("url") if isinstance(place, Mapping) else place
        if isinstance(url, str):
            return Image(url, to_json(dict(wire)))
    if isinstance(kind, str) and kind in _THINKING_TYPES:
        return Thinking(_thinking_text(wire), to_json(dict(wire)))
    return Opaque(to_json(dict(wire)))


def _thinking_text(wire: Mapping[str, Any]) -> str:
    found = wire.get("thinking") or wire.get("text") or ""
    return found if isinstance(found, str) else ""


def _call_to_openai(call: ToolCall) -> dict[str, Any]:
    rest = _loads(call.rest)
    kind = rest.pop("type", "function")
    place, key = _CUSTOM_PLACE if kind == "custom" else _FUNCTION_PLACE
    arguments = call.arguments if call.is_encoded else json.loads(call.arguments or "null")
    inner = {"name": call.name, key: arguments} | rest.pop(place, {})
    return {"id": call.id, "type": kind, place: inner} | rest


def _call_from_openai(wire: object) -> ToolCall:
    """A call; one that came without id, type or arguments gets the empty or usual value, and a number as id becomes text."""
    if not isinstance(wire, Mapping):
        raise MessageError(
            f"A tool call is a mapping, not {type(wire).__name__}.",
            "Give it an id and a function.",
            subject="tool_calls",
        )
    kind = wire.get("type", "function")
    place, key = _CUSTOM_PLACE if kind == "custom" else _FUNCTION_PLACE
    inner = wire.get(place)
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise MessageError(
            f"The tool call {wire.get('id')!r} has no {place} with a name.", f"Give it a {place}.", subject="tool_calls"
        )
    arguments = inner.get(key, "")
    usual = {"id", place} if kind != "function" else {"id", "type", place}
    rest = {name: value for name, value in wire.items() if name not in usual}
    if beside := {name: value for name, value in inner.items() if name not in ("name", key)}:
        rest[place] = beside
    return ToolCall(
        id=_id_from_openai(wire.get("id")) or "",
        name=inner["name"],
        arguments=arguments if isinstance(arguments, str) else "" if arguments is None else to_json(arguments),
        rest=_beside(rest),
        is_encoded=isinstance(arguments, str),
    )
