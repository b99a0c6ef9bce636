"""How much is summarised at once: shares of tokens, chunks under a limit, and what is too large for any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.core.rounds import repair
from harness_nb.policies.openclaw.sizes import SAFETY_MARGIN, tokens, total

_BASE_SHARE = 0.4
_LEAST_SHARE = 0.15
_LARGE_MESSAGE_SHARE = 0.1
_OVERHEAD_TOKENS = 4_096
_LEAST_TO_SPLIT = 4
_OVERSIZED_SHARE = 0.5

Chunk = tuple[Item, ...]


def chunk_tokens(items: Sequence[Item], window: int) -> int:
    """Tokens of one chunk: two fifths of the window, less where messages are large, and less the request around it."""
    share = _BASE_SHARE
    if items:
        average = total(items) / len(items) * SAFETY_MARGIN / window
        if average > _LARGE_MESSAGE_SHARE:
            share = max(_LEAST_SHARE, share - min(2 * average, _BASE_SHARE - _LEAST_SHARE))
    return max(1, int(window * share) - _OVERHEAD_TOKENS)


def stages(items: Sequence[Item], most_tokens: int) -> tuple[Chunk, ...]:
    """The halves that are summarised apart and merged; one part where that is not needed."""
    if len(items) < _LEAST_TO_SPLIT or total(items) <= most_tokens:
        return (tuple(items),)
    return halves(items)


def chunks(items: Sequence[Item], most_tokens: int) -> tuple[Chunk, ...]:
    """Consecutive chunks below a limit less the margin; a message above it is a chunk by itself or ends one."""
    limit = max(1, int(most_tokens / SAFETY_MARGIN))
    made: list[Chunk] = []
    current: list[Item] = []
    size = 0
    for item in items:
        own = tokens(item)
        if current and size + own > limit:
            made.append(tuple(current))
            current, size = [], 0
        current.append(item)
        size += own
        if own > limit:
            made.append(tuple(current))
            current, size = [], 0
    return (*made, tuple(current)) if current else tuple(made)


def halves(items: Sequence[Item]) -> tuple[Chunk, ...]:
    """Two parts of about the same size that no round goes across, or one."""
    if len(items) < 2:
        return (tuple(items),) if items else ()
    at = _middle(items)
    return (tuple(items),) if at is None or not 0 < at < len(items) else (tuple(items[:at]), tuple(items[at:]))


def _middle(items: Sequence[Item]) -> int | None:
    """Position where the second part begins."""
    target = total(items) / 2
    size, call_at, open_calls = 0, -1, set[str]()
    for at, item in enumerate(items):
        own, message = tokens(item), item.message
        if not open_calls and at and size + own > target:
            return at
        size += own
        if message.role == "assistant":
            goes_on = bool(message.calls) and message.finish not in ("aborted", "error")
            open_calls = {call.id for call in message.calls} if goes_on else set()
            call_at = at if goes_on else -1
        elif message.role == "tool" and open_calls:
            open_calls.discard(message.call_id or "")
            if not message.call_id:
                open_calls, call_at = set(), -1
            if not open_calls and size > target:
                if call_at > 0:
                    return call_at
                call_at = -1
    return call_at if open_calls and size > target and call_at > 0 else None


@dataclass(frozen=True, slots=True)
class Sorted:
    """Messages by size.

    Attributes:
        small: Those that can be summarised.
        large: Those that are larger than half the window.
    """

    small: Chunk
    large: Chunk


def by_size(items: Sequence[Item], window: int) -> Sorted:
    """Divides messages into those that fit into half the window with a margin, and the others."""
    large = {at for at, item in enumerate(items) if tokens(item) * SAFETY_MARGIN > window * _OVERSIZED_SHARE}
    small = tuple(item for at, item in enumerate(items) if at not in large)
    return Sorted(small, tuple(items[at] for at in sorted(large)))


@dataclass(frozen=True, slots=True)
class History:
    """What is summarised, in two.

    Attributes:
        dropped: The oldest part, summarised apart.
        rest: The rest.
    """

    dropped: Chunk
    rest: Chunk


def shared(items: Sequence[Item], new_tokens: int, window: int, most_share: float) -> History:
    """Takes oldest halves out of a history until the rest fits, where what stays outside it is large.

    Args:
        items: The history.
        new_tokens: Tokens of what stays.
        window: Context window in tokens.
        most_share: Share of it that either may have.
    """
    rest: Chunk = tuple(items)
    dropped: Chunk = ()
    if new_tokens <= int(window * most_share * SAFETY_MARGIN):
        return History(dropped, rest)
    budget = max(1, int(window * most_share))
    while rest and total(rest) > budget:
        parts = halves(rest)
        if len(parts) < 2:
            break
        dropped = (*dropped, *parts[0])
        rest = whole(parts[1])
    return History(dropped, rest)


def whole(items: Sequence[Item]) -> Chunk:
    """Items with each result next to its call, and without those whose call is not among them."""
    order = repair([item.message for item in items]).order
    return tuple(items[at] for at in order if isinstance(at, int))
