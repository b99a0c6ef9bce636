"""Shortening long arguments of older calls, before the trigger is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import ToolCall, to_json
from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.errors import HarnessError
from harness_nb.policies.agentscope.config import AgentScopeArguments
from harness_nb.policies.agentscope.cutting import left_alone

SHIPPED_CHARS = 20
"""To so many units the shipped code shortens an argument, whatever the limit is."""


def shortened(
    items: Sequence[Item], sizes: Sequence[int], settings: AgentScopeArguments, *, to_limit: bool
) -> tuple[Item, ...]:
    """The items with long arguments of older calls shortened; those that need not change are the same.

    Args:
        items: The list.
        sizes: Tokens of each.
        settings: Triggers, what is left alone, and the limit.
        to_limit: Whether an argument keeps as much as the limit allows, or 20 units as shipped.

    Raises:
        HarnessError: As shipped, an argument over a limit below 20 is shorter than the 20 units that are to stay.
    """
    by_messages = 0 < settings.trigger_messages <= len(items)
    if not by_messages and not 0 < settings.trigger_tokens <= sum(sizes):
        return tuple(items)
    stop = left_alone(sizes, keep_messages=settings.keep_messages, keep_tokens=settings.keep_tokens)
    return tuple(_shorter(item, settings, to_limit) if at < stop else item for at, item in enumerate(items))


def _shorter(item: Item, settings: AgentScopeArguments, to_limit: bool) -> Item:
    calls = tuple(_call(call, settings, to_limit) for call in item.message.calls)
    if all(new is old for new, old in zip(calls, item.message.calls, strict=True)):
        return item
    return edits.edited(item, replace(item.message, calls=calls), "truncated")


def _call(call: ToolCall, settings: AgentScopeArguments, to_limit: bool) -> ToolCall:
    """A call with the long texts at the top of its arguments shortened; its beginning, no more, stays of each."""
    arguments = call.parsed() or {}
    long = {key: value for key, value in arguments.items() if _is_long(value, settings.max_arg_length)}
    if not long:
        return call
    head = settings.max_arg_length if to_limit else SHIPPED_CHARS
    short = {key: _text(value, head) + settings.truncation_text for key, value in long.items()}
    return replace(call, arguments=to_json({**arguments, **short}))


def _is_long(value: Any, most: int) -> bool:
    return isinstance(value, str) and utf16_len(value) > most


def _text(text: str, head: int) -> str:
    if utf16_len(text) < head:
        raise HarnessError(
            f"An argument of {utf16_len(text)} units can't be shortened to {head}.",
            f"Set max_arg_length to {SHIPPED_CHARS} or more, or use the variant 'as_documented'.",
        )
    return utf16_cut(text, 0, head)
