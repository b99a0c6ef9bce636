"""Messages of inspect_ai as ours and back: what was not changed comes back as the object that it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, to_json
from harness_nb.lab.adapters.listed import MARK
from harness_nb.lab.adapters.packages import foreign

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

PACKAGE = "inspect-ai"


def to_ours(theirs: ChatMessage) -> Message:
    """A message of inspect_ai as ours. Pictures, reasoning and whatever else it holds become parts that go back as they came."""
    content = theirs.content
    shown = content if isinstance(content, str) else tuple(_part(one) for one in content)
    calls = tuple(
        ToolCall(call.id, call.function, to_json(call.arguments)) for call in getattr(theirs, "tool_calls", None) or ()
    )
    if theirs.role == "assistant":
        return Message("assistant", shown or None, calls=calls)
    if theirs.role == "tool":
        status = "error" if theirs.error is not None else ""
        return Message("tool", shown, call_id=theirs.tool_call_id or "", name=theirs.function, status=status)
    is_summary = "summary" in (theirs.metadata or {})
    return Message(theirs.role, shown, origin="harness" if is_summary or theirs.role == "system" else "user")


def _part(content: Any) -> Part:
    if content.type == "text":
        return Text(content.text)
    raw = to_json({"harness_nb_type": content.type, **content.model_dump(mode="json", exclude_none=True)})
    if content.type == "image":
        return Image(content.image, raw)
    if content.type == "reasoning":
        return Thinking(content.reasoning, raw)
    return Opaque(raw)


def to_theirs(message: Message, metadata: Mapping[str, Any] | None = None) -> ChatMessage:
    """A message of ours, of text and calls, as one of inspect_ai.

    Args:
        message: The message.
        metadata: Goes into its metadata.
    """
    model = foreign("inspect_ai.model", PACKAGE)
    fields: dict[str, Any] = {"content": message.text, "metadata": dict(metadata) if metadata else None}
    if message.role == "assistant":
        call = foreign("inspect_ai.tool", PACKAGE).ToolCall
        calls = [call(id=one.id, function=one.name, arguments=one.parsed() or {}) for one in message.calls]
        fields["tool_calls"] = calls or None
    if message.role == "tool":
        fields |= {"tool_call_id": message.call_id, "function": message.name}
    made = {
        "system": model.ChatMessageSystem,
        "user": model.ChatMessageUser,
        "assistant": model.ChatMessageAssistant,
        "tool": model.ChatMessageTool,
    }[message.role](**fields)
    result: ChatMessage = made
    return result


def edited(theirs: ChatMessage, message: Message) -> ChatMessage:
    """A message of inspect_ai with the text and the arguments of ours, under an id of its own as inspect_ai does it."""
    update: dict[str, Any] = {"id": foreign("shortuuid", PACKAGE).uuid()}
    if isinstance(theirs.content, str) or not isinstance(message.content, tuple):
        update["content"] = message.text
    else:
        others = {to_ours_raw(one): one for one in theirs.content if one.type != "text"}
        text = foreign("inspect_ai.model", PACKAGE).ContentText
        update["content"] = [
            text(text=part.text) if isinstance(part, Text) else others[part.raw] for part in message.content
        ]
    if message.calls:
        by_id = {call.id: call for call in message.calls}
        update["tool_calls"] = [
            replace(call, arguments=by_id[call.id].parsed() or call.arguments) for call in theirs.tool_calls
        ]
    changed: ChatMessage = theirs.model_copy(update=update)
    return changed


def to_ours_raw(content: Any) -> str:
    """The JSON text under which a part that is no text is known."""
    part = _part(content)
    return "" if isinstance(part, Text) else part.raw


def changed(item: Message, before: ChatMessage, after: ChatMessage) -> Message:
    """Our message after inspect_ai changed its own form of it: text, parts and calls as they are now."""
    if after is before:
        return item
    now = to_ours(after)
    kept = {call.id for call in now.calls}
    calls = tuple(call for call in item.calls if call.id in kept)
    content = item.content if now.content == to_ours(before).content else now.content
    return replace(item, content=content, calls=calls)


def placed(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages of ours as inspect_ai's, each with its place in its metadata, and summaries marked as inspect_ai marks them."""
    return [
        to_theirs(one, {MARK: {"place": at}} | ({"summary": True} if one.origin == "harness" else {}))
        for at, one in enumerate(messages)
    ]


def place_of(theirs: ChatMessage) -> int | None:
    """The place that `placed` noted, or None."""
    place = ((theirs.metadata or {}).get(MARK) or {}).get("place")
    return place if isinstance(place, int) else None
