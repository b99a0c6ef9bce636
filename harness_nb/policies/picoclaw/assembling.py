"""What of the list a request sends under Seahorse: the newest items, and as many older ones as fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness_nb.core.item import Item
from harness_nb.policies.picoclaw.nodes import is_node, node_of, tokens_of
from harness_nb.policies.picoclaw.turns import is_prompt

Hint = Literal["mild", "strong"]

_DEEP = 2
_MANY_CONDENSED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What a request sends.

    Attributes:
        items: That, in order.
        budget: Tokens that it may have.
        tokens: Tokens that it has.
        hint: How urgently the model is told to look facts up, or None where nothing was summarised.
        keeps_turn: Whether the turn in progress alone is above the budget and is sent all the same.
    """

    items: tuple[Item, ...]
    budget: int
    tokens: int
    hint: Hint | None
    keeps_turn: bool = False


def assemble(items: Sequence[Item], *, budget: int, fresh_tail: int) -> Assembled:
    """Chooses what is sent.

    Args:
        items: The list.
        budget: Tokens that may be sent.
        fresh_tail: Newest items that go before all others.
    """
    split = max(0, len(items) - fresh_tail)
    tail, keeps_turn = _trimmed(items[split:], budget)
    left = max(0, budget - _tokens(tail))
    sent = (*_newest(items[:split], left), *tail)
    return Assembled(items=sent, budget=budget, tokens=_tokens(sent), hint=hint_for(sent), keeps_turn=keeps_turn)


def _tokens(items: Sequence[Item]) -> int:
    return sum(map(tokens_of, items))


def _newest(items: Sequence[Item], budget: int) -> tuple[Item, ...]:
    """The end of a list that fits."""
    at, tokens = len(items), 0
    while at > 0 and tokens + tokens_of(items[at - 1]) <= budget:
        at -= 1
        tokens += tokens_of(items[at])
    return tuple(items[at:])


def _trimmed(tail: Sequence[Item], budget: int) -> tuple[tuple[Item, ...], bool]:
    """The newest items, cut to a start that a provider takes; a turn in progress that is too long stays whole."""
    tokens = _tokens(tail)
    if tokens <= budget:
        return tuple(tail), False
    last = max((at for at, item in enumerate(tail) if is_prompt(item)), default=None)
    if last is not None and _tokens(tail[last:]) > budget:
        return tuple(tail[last:]), True
    start = 0
    while start < len(tail) and tokens > budget:
        tokens -= tokens_of(tail[start])
        start += 1
    while start < len(tail) and not _is_safe(tail[start:]):
        start += 1
    return tuple(tail[start:]), False


def _is_safe(items: Sequence[Item]) -> bool:
    """Whether the first message is neither a result nor a call."""
    first = next((item.message for item in items if not is_node(item)), None)
    return first is None or not (first.role == "tool" or first.calls)


def hint_for(items: Sequence[Item]) -> Hint | None:
    """How urgently the model is told to look facts up."""
    nodes = [node for item in items if (node := node_of(item)) is not None]
    if not nodes:
        return None
    is_deep = max(node.depth for node in nodes) >= _DEEP
    return "strong" if is_deep or sum(not node.is_leaf for node in nodes) >= _MANY_CONDENSED else "mild"
