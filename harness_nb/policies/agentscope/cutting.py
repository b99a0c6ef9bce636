"""Where AgentScope cuts a list, and how far from its end the shortening of arguments stays away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from harness_nb.core.item import Item


@dataclass(frozen=True, slots=True)
class AgentScopeCut:
    """Where it cuts.

    Attributes:
        raw: Where the keep setting would.
        safe: Where it does, so that a result stays with its call as far as the run at the cut goes.
    """

    raw: int
    safe: int


def tail_that_fits(sizes: Sequence[int], tokens: int) -> int:
    """How many items at the end are within a number of tokens."""
    return sum(1 for _ in takewhile(lambda total: total <= tokens, accumulate(reversed(sizes))))


def left_alone(sizes: Sequence[int], *, keep_messages: int, keep_tokens: int) -> int:
    """Position of the first message that the pre-pass leaves alone; with none that fits it shortens nothing."""
    if keep_tokens <= 0:
        return max(0, len(sizes) - keep_messages)
    fit = tail_that_fits(sizes, keep_tokens)
    return len(sizes) - fit if fit else 0


def cut(items: Sequence[Item], sizes: Sequence[int], *, keep_messages: int, keep_tokens: int) -> AgentScopeCut:
    """Where a list is cut.

    Args:
        items: The list.
        sizes: Tokens of each.
        keep_messages: Messages that stay.
        keep_tokens: Above 0: most tokens at the end that stay, but one message in any case, instead of `keep_messages`.
    """
    raw = max(0, len(items) - keep_messages)
    if keep_tokens > 0:
        all_fit = sum(sizes) <= keep_tokens
        raw = 0 if all_fit else min(len(sizes) - tail_that_fits(sizes, keep_tokens), len(sizes) - 1)
    return AgentScopeCut(raw, _safe(items, raw))


def _safe(items: Sequence[Item], raw: int) -> int:
    """A cut that leaves the run of results at it with the nearest call of any of them; without one it goes past the run."""
    if not 0 < raw < len(items) or items[raw].message.role != "tool":
        return raw
    run = list(takewhile(lambda item: item.message.role == "tool", items[raw:]))
    ids = {item.message.call_id for item in run if item.message.call_id is not None}
    owners = (at for at in range(raw - 1, -1, -1) if ids & {call.id for call in items[at].message.calls})
    return next(owners, raw + len(run))
