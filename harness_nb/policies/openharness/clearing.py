"""OpenHarness' first two steps: clearing old results, and cutting the middle out of long texts in the older part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Part, Text
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.peers import items_of, peers_of, split
from harness_nb.policies.openharness.sizes import OpenHarnessEstimate

CLEARED = "[old tool result was cleared out]"
"""Stands for a cleared result; as long as OpenHarness' own words."""

_MARK = "\n[... {} chars of this ...]\n"
_MCP = "mcp__"


@dataclass(frozen=True, slots=True)
class Cleared:
    """A list after clearing.

    Attributes:
        items: The list.
        freed: Tokens of the results that were cleared, without the factor and without what stands there now.
    """

    items: tuple[Item, ...]
    freed: int


def cleared(items: Sequence[Item], config: OpenHarnessConfig, estimate: OpenHarnessEstimate) -> Cleared:
    """Clears the results of all but the newest calls of tools whose results can be had again.

    Ids are a set, as in OpenHarness: with ids that repeat, nothing may be cleared.
    """
    ids = _clearable(items, config)
    keep = max(1, config.micro_keep)
    old = frozenset(ids) - frozenset(ids[-keep:]) if len(ids) > keep else frozenset()
    freed = 0
    made = []
    for item in items:
        message = item.message
        if message.role == "tool" and message.call_id in old and message.text != CLEARED:
            freed += estimate.size.text(message.text)
            item = edits.cleared(item, CLEARED)
        made.append(item)
    return Cleared(tuple(made), freed)


def _clearable(items: Iterable[Item], config: OpenHarnessConfig) -> list[str]:
    """Ids of the calls whose results may be cleared, in order, answered or not."""
    names: dict[str, str] = {}
    ids: list[str] = []
    sizes: dict[str, int] = {}
    for item in items:
        for call in item.message.calls:
            ids.append(call.id)
            names[call.id] = call.name
        if item.message.role == "tool":
            sizes[item.message.call_id or ""] = len(item.message.text)
    return [
        one
        for one in ids
        if names[one] in config.micro_tools
        or names[one].startswith(_MCP)
        or sizes.get(one, 0) >= config.micro_large_chars
    ]


def collapsed(
    items: Sequence[Item], config: OpenHarnessConfig, estimate: OpenHarnessEstimate
) -> tuple[Item, ...] | None:
    """The list with the middle of long texts in its older part left out; None where there is nothing to gain."""
    peers = peers_of(items)
    if len(peers) <= config.keep_messages + 2:
        return None
    older, recent = split(peers, config.keep_messages, pair_safe=config.pair_safe)
    before = items_of(older)
    after = tuple(_collapsed(item, config) for item in before)
    if all(new is old for new, old in zip(after, before, strict=True)):
        return None
    made = (*after, *items_of(recent))
    return made if estimate(made) < estimate(items) else None


def _collapsed(item: Item, config: OpenHarnessConfig) -> Item:
    """An item with each long text of its own shortened; the item itself when none is long."""
    blocks: list[dict[str, int]] = []
    parts: list[Part] = []
    for at, part in enumerate(item.message.parts):
        if isinstance(part, Text) and len(part.text) > config.collapse_limit_chars:
            text, block = _shortened(part.text, config)
            blocks.append({"part": at, **block})
            part = replace(part, text=text)
        parts.append(part)
    if not blocks:
        return item
    content = tuple(parts) if isinstance(item.message.content, tuple) else _only_text(parts)
    how = item.how if item.index is None else "truncated"
    return edits.edited(item, replace(item.message, content=content), how, collapsed=blocks)


def _only_text(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _shortened(text: str, config: OpenHarnessConfig) -> tuple[str, dict[str, int]]:
    """Head, mark and tail, white space at the cuts gone, and how long each is; the mark says what the figures say."""
    head = text[: config.collapse_head_chars].rstrip()
    tail = text[len(text) - config.collapse_tail_chars :].lstrip()
    omitted = len(text) - config.collapse_head_chars - config.collapse_tail_chars
    short = f"{head}{_MARK.format(omitted)}{tail}"
    figures = {"chars": len(short), "head": len(head), "tail": len(tail), "omitted": omitted, "original": len(text)}
    return short, figures
