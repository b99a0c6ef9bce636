"""Content blocks of Anthropic's and pi's messages as parts and calls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness_nb.core.messages import Part, Text, ToolCall, part_from_openai, to_json


def parts(content: Any) -> tuple[Part, ...]:
    """The parts of a content: a text, or a list of blocks. Calls and results are passed over."""
    if isinstance(content, str):
        return (Text(content),)
    return tuple(part(block) for block in content or () if _type(block) not in ("tool_use", "toolCall", "tool_result"))


def text_or_parts(content: Any) -> str | tuple[Part, ...]:
    """A content as one text where it is nothing but one plain text, and as parts otherwise."""
    found = parts(content)
    if not found:
        return ""
    first = found[0]
    return first.text if len(found) == 1 and isinstance(first, Text) and not first.rest else found


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
    given = block.get("input", block.get("arguments"))
    arguments = given if isinstance(given, str) else to_json(given if given is not None else {})
    return ToolCall(str(block["id"]), str(block["name"]), arguments)


def _type(block: Any) -> object:
    return block.get("type") if isinstance(block, Mapping) else None


def _picture(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A picture block in OpenAI's form; the block itself when it is not understood."""
    source = block.get("source", block)
    if not isinstance(source, Mapping):
        return block
    kind = source.get("media_type", source.get("mimeType", "image/png"))
    url = f"data:{kind};base64,{source['data']}" if "data" in source else source.get("url")
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
