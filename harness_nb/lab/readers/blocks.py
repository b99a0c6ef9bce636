"""Content blocks of the formats, most of them after Anthropic's, as parts, calls and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from harness_nb.core.messages import Message, Part, Text, ToolCall, part_from_openai, to_json


def parts(content: Any) -> tuple[Part, ...]:
    """The parts of a content: a text, or a list of blocks. Calls and results are passed over."""
    if isinstance(content, str):
        return (Text(content),)
    return tuple(part(block) for block in content or () if _type(block) not in ("tool_use", "toolCall", "tool_result"))


def text_or_parts(content: Any) -> str | tuple[Part, ...]:
    """A content as one text where it is nothing but one plain text, and as parts otherwise."""
    return as_content(parts(content))


def as_content(found: tuple[Part, ...]) -> str | tuple[Part, ...]:
    """Parts as the content of a message: one text where they are nothing but one plain text."""
    if not found:
        return ""
    first = found[0]
    return first.text if len(found) == 1 and isinstance(first, Text) and not first.rest else found


def words(text: Any) -> Text:
    """A text as a part.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no text")
    return Text(text)


def reasoning(text: str, wire: Mapping[str, Any] | None = None) -> Part:
    """A model's reasoning as a part.

    Args:
        text: What can be read of it; may be empty.
        wire: The record it comes from, kept beside the text.
    """
    return part_from_openai({**(wire or {}), "type": "reasoning", "text": text})


def picture(url: str) -> Part:
    """A picture by address or as a data URL."""
    return part_from_openai({"type": "image_url", "image_url": {"url": url}})


def file_of(kind: str, url: str, name: str = "") -> Part:
    """A file by address or as a data URL: a picture where its media type says so, and otherwise kept as it is."""
    return picture(url) if kind.startswith("image/") else part_from_openai({"type": "file", "url": url, "name": name})


def part(block: Any) -> Part:
    """One block as a part; a picture takes OpenAI's form, and what is not known stays as it is."""
    return part_from_openai(_picture(block) if _type(block) == "image" else block)


def calls(content: Any) -> tuple[ToolCall, ...]:
    """The tool calls among the blocks of a content."""
    if isinstance(content, str):
        return ()
    return tuple(_call(block) for block in content or () if _type(block) in ("tool_use", "toolCall"))


def _call(block: Mapping[str, Any]) -> ToolCall:
    """A call; its arguments are under `input` in Anthropic's blocks and under `arguments` in pi's."""
    return tool_call(block["id"], block["name"], block.get("input", block.get("arguments")), rest=_cache_mark(block))


def tool_call(id: object, name: object, arguments: Any, *, rest: str = "") -> ToolCall:
    """A call whose arguments are JSON text or the value itself; without any they are an empty object."""
    text = arguments if isinstance(arguments, str) else to_json({} if arguments is None else arguments)
    return ToolCall(str(id), str(name), text, rest)


def results(content: Any, names: Mapping[str, str], **fields: Any) -> Iterator[Message]:
    """The tool results among the blocks of a content.

    Args:
        content: A text, or a list of blocks.
        names: Name of the tool by the id of the call, as far as calls are known.
        **fields: Further fields of each message, such as its time.
    """
    for block in content if isinstance(content, list) else ():
        if _type(block) == "tool_result":
            call_id = str(block["tool_use_id"])
            yield Message.tool(
                call_id,
                text_or_parts(block.get("content")),
                name=names.get(call_id) or None,
                status="error" if block.get("is_error") else "",
                rest=_cache_mark(block),
                **fields,
            )


def _cache_mark(block: Mapping[str, Any]) -> str:
    """The mark up to which a request is to be cached, as JSON text of a further field."""
    return to_json({"cache_control": block["cache_control"]}) if block.get("cache_control") else ""


def _type(block: Any) -> object:
    return block.get("type") if isinstance(block, Mapping) else None


def _picture(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A picture block in OpenAI's form; the block itself when it is not understood."""
    source = block.get("source", block)
    if not isinstance(source, Mapping):
        return block
    kind = next((source[key] for key in ("media_type", "mimeType", "mime_type") if source.get(key)), "image/png")
    encoded = source.get("data", source.get("base64"))
    url = f"data:{kind};base64,{encoded}" if isinstance(encoded, str) else source.get("url")
    return {"type": "image_url", "image_url": {"url": url}} if isinstance(url, str) else block


def moment(value: Any) -> datetime | None:
    """A time as recorded: ISO 8601, or milliseconds since 1970; None where it is neither. Without a zone it is UTC."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def count(record: Mapping[str, Any], *names: str) -> int:
    """Sum of some fields of a usage record; a field that is missing or no number counts nothing."""
    values = (record.get(name) for name in names)
    return sum(int(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool))
