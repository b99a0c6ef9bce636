"""The pass before a compaction that needs no model: equal results once, old results and arguments short."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Text, ToolCall
from harness_nb.policies.hermes.config import HermesConfig
from harness_nb.policies.hermes.marks import ARGUMENT_MARK, DUPLICATE, IMAGE_IN_RESULT
from harness_nb.policies.hermes.one_line import one_line
from harness_nb.policies.hermes.sizes import walk_tokens

KEPT_ARGUMENT_CHARS = 200
"""Characters that stay of a long text in an argument."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A list after the pass.

    Attributes:
        items: The list; items that were left alone are the same objects.
        results: Positions of results whose content was replaced.
        arguments: Positions of messages whose arguments were shortened.
    """

    items: tuple[Item, ...]
    results: tuple[int, ...] = ()
    arguments: tuple[int, ...] = ()


def pruned(items: Sequence[Item], config: HermesConfig, tail_tokens: int) -> Pruned:
    """Shortens a list.

    Args:
        items: The list.
        config: Lengths, and how many of the latest messages stay whole at least.
        tail_tokens: Tokens at the end that stay whole.
    """
    old = protected_from(items, tail_tokens, config.protect_last_n)
    once = _deduplicated(items, config.dedupe_result_chars)
    calls = {call.id: call for item in items for call in item.message.calls}
    made = [_shortened(item, calls, config) if at < old else item for at, item in enumerate(once)]
    changed = [at for at, (new, was) in enumerate(zip(made, items, strict=True)) if new is not was]
    results = tuple(at for at in changed if made[at].message.role == "tool")
    return Pruned(tuple(made), results, tuple(at for at in changed if made[at].message.calls))


def protected_from(items: Sequence[Item], tail_tokens: int, least: int) -> int:
    """Position from which on everything stays whole: the end that fits, and `least` messages in any case."""
    size, start = 0, len(items)
    for at in range(len(items) - 1, -1, -1):
        size += walk_tokens(items[at].message)
        if size > tail_tokens and len(items) - at >= least:
            start = at
            break
        start = at
    return min(start, max(0, len(items) - least))


def _deduplicated(items: Sequence[Item], least: int) -> list[Item]:
    """Every result but the newest of equal ones as a reference."""
    seen: set[str] = set()
    made = list(items)
    for at in range(len(items) - 1, -1, -1):
        message = items[at].message
        if message.role != "tool" or not isinstance(message.content, str) or len(message.content) < least:
            continue
        if message.content in seen:
            made[at] = edits.edited(items[at], replace(message, content=DUPLICATE), "cleared", why="duplicate")
        seen.add(message.content)
    return made


def _shortened(item: Item, calls: dict[str, ToolCall], config: HermesConfig) -> Item:
    message = item.message
    if message.role == "tool":
        return _result(item, calls.get(message.call_id or ""), config.prune_result_chars)
    if message.calls:
        return _arguments(item, config.prune_argument_chars)
    return item


def _result(item: Item, call: ToolCall | None, most: int) -> Item:
    message = item.message
    if not isinstance(message.content, str):
        return without_images(item, IMAGE_IN_RESULT)
    if len(message.content) <= most or item.how == "cleared":
        return item
    text = one_line(call, message.content)
    tool = call.name if call is not None else ""
    return edits.edited(item, replace(message, content=text), "cleared", why="one_line", tool=tool)


def without_images(item: Item, placeholder: str) -> Item:
    """The item with a text in the place of each picture."""
    parts = item.message.parts
    count = sum(isinstance(part, Image) for part in parts)
    if not count:
        return item
    kept = tuple(Text(placeholder) if isinstance(part, Image) else part for part in parts)
    return edits.edited(item, replace(item.message, content=kept), "truncated", images=count)


def _arguments(item: Item, most: int) -> Item:
    calls = tuple(
        replace(call, arguments=_cut(call.arguments)) if len(call.arguments) > most else call
        for call in item.message.calls
    )
    if calls == item.message.calls:
        return item
    changed = [new.id for new, was in zip(calls, item.message.calls, strict=True) if new != was]
    return edits.edited(item, replace(item.message, calls=calls), "truncated", arguments=changed)


def _cut(arguments: str) -> str:
    """The arguments with long texts cut; what is no JSON, or has no long text, stays."""
    try:
        value = json.loads(arguments)
        short = _walk(value)
    except (ValueError, RecursionError):
        return arguments
    return arguments if short == value else json.dumps(short, ensure_ascii=False)


def _walk(value: object) -> object:
    if isinstance(value, str):
        return value[:KEPT_ARGUMENT_CHARS] + ARGUMENT_MARK if len(value) > KEPT_ARGUMENT_CHARS else value
    if isinstance(value, dict):
        return {key: _walk(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_walk(one) for one in value]
    return value
