"""A conversation as a request to Anthropic's Messages API: `system`, `messages`, and `model` where it is known.

The API is strict, so what it would refuse is left out and counted: blank texts and messages, pictures that are neither
data nor an address, reasoning that it did not sign, parts and fields that it does not know. All system messages stand in
`system`, each a block; results of one round stand in one user message; ids that it does not take are replaced. Source: the
API's public reference, as for the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from harness_nb.core.messages import Image, Message, Part, Text, Thinking, ToolCall, part_to_openai, to_json
from harness_nb.core.transcript import Transcript
from harness_nb.lab.writers.document import request
from harness_nb.lab.writers.losses import Losses

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([^,]*)", re.ASCII)
_ID = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_FIELDS_OF_TEXT = {"cache_control", "citations"}
_KNOWN_PARTS = {
    "code_execution_tool_result",
    "container_upload",
    "document",
    "search_result",
    "server_tool_use",
    "web_fetch_tool_result",
    "web_search_tool_result",
}
_FAILED = ("error", "denied", "interrupted")


def written(transcript: Transcript, losses: Losses) -> Iterator[str]:
    """The text of the file."""
    wire = to_anthropic(transcript, losses)
    return request({"model": transcript.model, "system": wire["system"]}, wire["messages"])


def to_anthropic(messages: Iterable[Message], losses: Losses | None = None) -> dict[str, Any]:
    """A conversation as arguments of the API.

    Args:
        messages: The conversation, in whole rounds.
        losses: Counts what is left out.

    Returns:
        `system`, a text or a list of blocks, empty without any, and `messages`.
    """
    lost = losses or Losses()
    system: list[dict[str, Any]] = []
    talk: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for message in messages:
        _count_beside(message, names, lost)
        names.update({call.id: call.name for call in message.calls})
        if message.role == "system":
            if talk:
                lost.changed("moved a system message to the front")
            system += _blocks(message, lost)
        elif message.role == "tool":
            _add_result(talk, message, lost)
        elif content := _said(message, lost):
            talk.append({"role": message.role, "content": content})
        else:
            lost.left_out("a message without content")
    return {"system": _one_text(system), "messages": talk}


def _add_result(talk: list[dict[str, Any]], message: Message, lost: Losses) -> None:
    """Puts a result to those of the same round, which the API wants in one message."""
    block = {
        "type": "tool_result",
        "tool_use_id": _id(message.call_id or ""),
        "content": message.content if isinstance(message.content, str) else _one_text(_blocks(message, lost)) or "",
        **({"is_error": True} if message.status in _FAILED else {}),
        **_fields(message.rest, {"cache_control"}, lost),
    }
    last = talk[-1] if talk else {"content": ""}
    if isinstance(last["content"], list) and last["content"][0]["type"] == "tool_result":
        last["content"].append(block)
    else:
        talk.append({"role": "user", "content": [block]})


def _said(message: Message, lost: Losses) -> str | list[dict[str, Any]]:
    """The content of a message, empty where nothing is left that the API takes."""
    _fields(message.rest, set(), lost)
    blocks = [*_blocks(message, lost), *(_call(call, lost) for call in message.calls)]
    return blocks if message.calls else _one_text(blocks)


def _one_text(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return str(blocks[0]["text"])
    return blocks


def _blocks(message: Message, lost: Losses) -> list[dict[str, Any]]:
    return [block for part in message.parts if (block := _block(part, lost)) is not None]


def _block(part: Part, lost: Losses) -> dict[str, Any] | None:
    """A part as a block; None where the API would refuse it."""
    if isinstance(part, Text):
        if part.text.strip():
            return {"type": "text", "text": part.text, **_fields(part.rest, _FIELDS_OF_TEXT, lost)}
        if part.text:
            lost.left_out("a blank text")
        return None
    if isinstance(part, Image):
        return _picture(part, lost)
    wire = part_to_openai(part)
    kind = str(wire.get("type", "")) if isinstance(wire, dict) else ""
    if isinstance(part, Thinking):
        if kind == "redacted_thinking" or (kind == "thinking" and wire.get("signature")):
            return dict(wire)
        lost.left_out("reasoning without Anthropic's signature")
        return None
    if kind in _KNOWN_PARTS:
        return dict(wire)
    lost.left_out(f"a part of the type {kind!r}")
    return None


def _picture(part: Image, lost: Losses) -> dict[str, Any] | None:
    data = _DATA_URL.fullmatch(part.url)
    if part.raw != to_json({"type": "image_url", "image_url": {"url": part.url}}):
        lost.left_out("how a picture is to be read")
    if data:
        return {"type": "image", "source": {"type": "base64", "media_type": data[1], "data": data[2]}}
    if part.url.startswith(("http://", "https://")):
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    lost.left_out("a picture that is neither data nor an address")
    return None


def _call(call: ToolCall, lost: Losses) -> dict[str, Any]:
    """A call; arguments that are no object stand under `arguments` in one."""
    parsed = call.parsed()
    if parsed is None:
        lost.changed("put arguments that are no JSON object into one")
        parsed = {"arguments": call.arguments}
    elif to_json(parsed) != call.arguments:
        lost.changed("wrote arguments as compact JSON")
    fields = _fields(call.rest, {"cache_control"}, lost)
    if not _ID.fullmatch(call.id):
        lost.changed("gave a call an id that the API takes")
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": parsed, **fields}


def _id(call_id: str) -> str:
    """An id as the API takes it: itself, or one made of it."""
    return call_id if _ID.fullmatch(call_id) else f"call_{sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _fields(rest: str, known: set[str], lost: Losses) -> dict[str, Any]:
    """Those of further fields that the API knows."""
    fields: dict[str, Any] = json.loads(rest) if rest else {}
    for name in fields.keys() - known:
        lost.left_out(f"the field {name!r}")
    return {name: value for name, value in fields.items() if name in known}


def _count_beside(message: Message, names: dict[str, str], lost: Losses) -> None:
    """Counts what the API has no place for; of a failed result it keeps that it failed, of a tool's name that of the call."""
    lost.beside(message, but=("status",) if message.status in ("", "error") else ())
    if message.name is not None and (message.role != "tool" or names.get(message.call_id or "") != message.name):
        lost.left_out("a name")
