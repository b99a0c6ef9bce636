"""Where OpenClaw cuts: at a budget of tokens from the end, never before a result, and if need be inside a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.policies.openclaw.sizes import tokens


@dataclass(frozen=True, slots=True)
class Cut:
    """A list in three.

    Attributes:
        history: What is summarised.
        turn_prefix: The beginning of the turn that is cut through; summarised apart.
        kept: What stays.
        is_split: Whether the cut goes through a turn.
    """

    history: tuple[Item, ...]
    turn_prefix: tuple[Item, ...]
    kept: tuple[Item, ...]
    is_split: bool


def cut(items: Sequence[Item], keep_tokens: int) -> Cut:
    """Cuts a list, an earlier summary not among it.

    The walk from the end stops where the budget is reached, and the nearest message at or after that which is no result
    stays first; with none there it is the last one before. Where the budget is never reached all of it stays.
    """
    at = _position(items, keep_tokens)
    start = _turn_start(items, at)
    if at == 0 or start is None or start == at:
        return Cut(tuple(items[:at]), (), tuple(items[at:]), False)
    return Cut(tuple(items[:start]), tuple(items[start:at]), tuple(items[at:]), True)


def _position(items: Sequence[Item], keep_tokens: int) -> int:
    places = [at for at, item in enumerate(items) if item.message.role != "tool"]
    if not places:
        return 0
    size = 0
    for at in range(len(items) - 1, -1, -1):
        size += tokens(items[at])
        if size >= keep_tokens:
            return next((place for place in places if place >= at), places[-1])
    return places[0]


def _turn_start(items: Sequence[Item], at: int) -> int | None:
    """Position of the request that the message at a position belongs to; None without one."""
    return next(
        (place for place in range(min(at, len(items) - 1), -1, -1) if items[place].message.role == "user"), None
    )
