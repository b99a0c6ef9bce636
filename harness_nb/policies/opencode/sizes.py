"""OpenCode's sizes: a quarter of the JSON of what is sent, in UTF-16 units."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.js_json import js_json
from harness_nb.core.messages import Image, Message, Part, Text, ToolCall
from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.opencode.session import MARKER_TEXT, Step

_UNANSWERED = "-" * 32
"""As long as the note that stands for a result which never came."""

_BESIDE = "-" * 32
"""As long as the text in front of pictures that a result could not hold."""

_TAKES_ALL = frozenset(
    {"@ai-sdk/anthropic", "@ai-sdk/openai", "@ai-sdk/amazon-bedrock", "@ai-sdk/google-vertex/anthropic"}
)
_TAKES_IMAGES = frozenset({"@ai-sdk/xai"})
_UNKNOWN_TYPE = "image/png"


def quarter(units: int) -> int:
    """Tokens of a number of units; half of one rounds up."""
    return (units + 2) // 4


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return quarter(utf16_len(text))


class Sizes:
    """Sizes of steps; each is written once.

    Args:
        package: Package of the provider.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._known: dict[int, tuple[Step, tuple[int, int]]] = {}

    def tokens(self, steps: Iterable[Step]) -> int:
        """Tokens of some steps as one list."""
        written = [self._written(step) for step in steps]
        units, count = sum(one[0] for one in written), sum(one[1] for one in written)
        return quarter(2 + units + max(0, count - 1))

    def _written(self, step: Step) -> tuple[int, int]:
        """Units and number of the messages of a step."""
        known = self._known.get(id(step))
        if known is None or known[0] is not step:
            texts = [js_json(one) for one in wire(step, self._package)]
            known = (step, (sum(map(utf16_len, texts)), len(texts)))
            self._known[id(step)] = known
        return known[1]


def wire(step: Step, package: str) -> list[dict[str, Any]]:
    """The messages that a step is sent as."""
    if not step.items:
        return []
    if step.kind == "marker":
        return [{"role": "user", "content": [{"type": "text", "text": MARKER_TEXT}]}]
    if step.kind == "user":
        content = [made for part in step.first.message.parts if (made := _user_part(part)) is not None]
        return [{"role": "user", "content": content}] if content else []
    return _reply(step, package)


def _user_part(part: Part) -> dict[str, Any] | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text else None
    if isinstance(part, Image):
        return {"type": "file", "mediaType": media_type(part), "data": part.url}
    return None


def _reply(step: Step, package: str) -> list[dict[str, Any]]:
    """A reply, the results of its calls in the order of the calls, and pictures that these could not hold."""
    said = next((item.message for item in step.items if item.message.role == "assistant"), None)
    if said is None:
        return []
    content: list[dict[str, Any]] = [
        {"type": "text", "text": part.text} for part in said.parts if isinstance(part, Text) and part.text
    ]
    content += [_call(call) for call in said.calls]
    if not content:
        return []
    made: list[dict[str, Any]] = [{"role": "assistant", "content": content}]
    if said.calls:
        results, apart = _results(said, step.items, package)
        made.append({"role": "tool", "content": results})
        made += [{"role": "user", "content": [{"type": "text", "text": _BESIDE}, *apart]}] if apart else []
    return made


def _call(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": _value(call.arguments)}


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _results(said: Message, items: tuple[Item, ...], package: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    answers = {item.message.call_id: item for item in reversed(items) if item.message.role == "tool"}
    made, apart = [], []
    for call in said.calls:
        output, beside = _output(answers.get(call.id), package)
        made.append({"type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": output})
        apart += beside
    return made, apart


def _output(item: Item | None, package: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if item is None:
        return {"type": "error-text", "value": _UNANSWERED}, []
    text = item.message.text
    media = [part for part in item.message.parts if isinstance(part, Image)]
    inside = [part for part in media if _takes(package, media_type(part))]
    apart = [{"type": "file", "mediaType": media_type(part), "data": part.url} for part in media if part not in inside]
    if not inside:
        return {"type": "text", "value": text}, apart
    shown = [{"type": "media", "mediaType": media_type(part), "data": part.url.partition(",")[2]} for part in inside]
    return {"type": "content", "value": [{"type": "text", "text": text}, *shown]}, apart


def _takes(package: str, kind: str) -> bool:
    return package in _TAKES_ALL or (package in _TAKES_IMAGES and kind.startswith("image/"))


def media_type(part: Image) -> str:
    """The type of a picture, as its data URL names it."""
    if not part.url.startswith("data:"):
        return _UNKNOWN_TYPE
    return part.url[5:].partition(",")[0].partition(";")[0] or _UNKNOWN_TYPE
