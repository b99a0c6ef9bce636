"""The new list: start, summary, end, in an order and with roles that a provider takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness_nb.core import edits
from harness_nb.core.item import How, Item, covered
from harness_nb.core.messages import Image, Message, Role, Text
from harness_nb.policies.hermes.marks import (
    CALLS_REMOVED,
    IMAGE_STRIPPED,
    MERGED_BEFORE,
    MERGED_BETWEEN,
    NO_USER,
    SYSTEM_NOTE,
    is_request,
    is_summary,
)
from harness_nb.policies.hermes.pruning import without_images


def assembled(
    head: Sequence[Item],
    tail: Sequence[Item],
    summary: str,
    *,
    of: Sequence[Item],
    meta: Mapping[str, object],
) -> tuple[Item, ...]:
    """Puts a list together.

    Args:
        head: What stays at the start.
        tail: What stays at the end.
        summary: Text of the summary with what stands around it.
        of: What the summary stands for.
        meta: What is known of the summary.
    """
    known = {"hermes": "summary", **meta}
    role = summary_role(head, tail)
    if role is None:
        end = (_merged(tail[0], summary, of, known), *tail[1:])
    else:
        end = (Item(None, Message(role, summary, origin="harness"), "summary", covered(of), known), *tail)
    return _whole(without_old_images((*_noted(head), *end)))


def summary_role(head: Sequence[Item], tail: Sequence[Item]) -> Role | None:
    """The role that keeps roles alternating; None where the summary must be merged into the message behind it."""
    before = head[-1].message.role if head else "user"
    after = tail[0].message.role if tail else None
    role: Role = "user" if before in ("assistant", "tool") else "assistant"
    if before == "system" or not any(is_request(item) for item in (*head, *tail)):
        return "user" if after != "user" else None
    if role != after:
        return role
    other: Role = "assistant" if role == "user" else "user"
    return other if other != before else None


def _merged(item: Item, summary: str, of: Sequence[Item], meta: Mapping[str, object]) -> Item:
    """A message with its own text first and the summary behind it; it takes the place of what the summary stands for."""
    message = item.message
    if isinstance(message.content, tuple):
        parts = (Text(MERGED_BEFORE), *message.content, Text(f"{MERGED_BETWEEN}{summary}"))
        merged = replace(message, content=parts)
    else:
        merged = replace(message, content=f"{MERGED_BEFORE}{message.text}{MERGED_BETWEEN}{summary}")
    stood = tuple(index for index in covered((*of, item)) if index != item.index)
    how: How = "merged" if item.index is not None else "summary"
    return replace(item, message=merged, how=how, stands_for=stood, meta={**item.meta, **meta, "merged": True})


def _noted(head: Sequence[Item]) -> tuple[Item, ...]:
    """The start; a system message in it gets a note, once."""
    if not head or head[0].message.role != "system" or head[0].message.text.endswith(SYSTEM_NOTE):
        return tuple(head)
    noted = head[0].message.with_text(head[0].message.text + SYSTEM_NOTE)
    return (edits.edited(head[0], noted, "merged", noted=True), *head[1:])


def without_old_images(items: Sequence[Item]) -> tuple[Item, ...]:
    """Pictures only from the newest message of the user on that has one."""
    newest = max((at for at, item in enumerate(items) if item.message.role == "user" and _has_image(item)), default=0)
    return tuple(without_images(item, IMAGE_STRIPPED) if at < newest else item for at, item in enumerate(items))


def _has_image(item: Item) -> bool:
    return any(isinstance(part, Image) for part in item.message.parts)


def _whole(items: Sequence[Item]) -> tuple[Item, ...]:
    """Without results whose call is gone, and without calls that have no result."""
    called = {call.id for item in items for call in item.message.calls}
    answered = {item.message.call_id for item in items if item.message.role == "tool"}
    kept = (item for item in items if item.message.role != "tool" or item.message.call_id in called)
    return tuple(_answered(item, answered) for item in kept)


def _answered(item: Item, answered: set[str | None]) -> Item:
    message = item.message
    calls = tuple(call for call in message.calls if call.id in answered)
    if len(calls) == len(message.calls):
        return item
    removed = [call.id for call in message.calls if call.id not in answered]
    is_empty = not calls and not message.text.strip()
    content = CALLS_REMOVED if is_empty else message.content
    how = item.how if item.how == "merged" else "truncated"
    return edits.edited(item, replace(message, calls=calls, content=content), how, removed=removed, filled=is_empty)


def with_request(items: tuple[Item, ...], before: Sequence[Item]) -> tuple[Item, ...]:
    """With one real message of the user at least: the latest is put back, in front of a reply that follows none.

    Args:
        items: The new list.
        before: The list before.
    """
    if any(is_request(item) or item.message.text == NO_USER for item in items):
        return items
    latest = next((item for item in reversed(before) if is_request(item)), None)
    if latest is None:
        return (*items, edits.note(NO_USER))
    places = (
        at
        for at, item in enumerate(items)
        if item.message.role == "assistant" and not (at and items[at - 1].message.role == "user")
    )
    at = next((place for place in places if not is_summary(items[place])), len(items))
    new = (*items[:at], latest, *items[at:])
    return tuple(_not_for(item, latest.index) for item in new)


def _not_for(item: Item, index: int | None) -> Item:
    """The item without an index in what it stands for, as that message is listed again."""
    if index not in item.stands_for:
        return item
    return replace(item, stands_for=tuple(one for one in item.stands_for if one != index))
