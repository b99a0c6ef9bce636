"""Where Hermes cuts: a protected start, a middle that is summarised, and an end that is kept."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item
from harness_nb.policies.hermes.config import HermesConfig, Thresholds
from harness_nb.policies.hermes.marks import is_request, is_summary
from harness_nb.policies.hermes.sizes import walk_tokens

_LEAST_TAIL = 3
_LEAST_BESIDE_HEAD = 4
"""A list needs more messages than the start and these, or there is nothing to compress."""


def head_end(items: Sequence[Item], config: HermesConfig, compactions: int) -> int:
    """Position behind the protected start: the system message, and the first messages in the first compaction."""
    has_system = bool(items) and items[0].message.role == "system"
    kept = config.protect_first_n if compactions == 0 or not config.head_decay else 0
    return _past_results(items, min(len(items), has_system + kept))


def can_compress(items: Sequence[Item], head: int) -> bool:
    """Whether there are enough messages behind the start."""
    return len(items) > head + _LEAST_BESIDE_HEAD


def cut(items: Sequence[Item], head: int, config: HermesConfig, limits: Thresholds) -> int:
    """Position of the first message that is kept at the end."""
    floor = _floor(len(items), head, config)
    forced = len(items) - floor
    at = min(_fitting_from(items, head, limits.soft_ceiling, floor), forced)
    if at <= head:
        at = min(_fitting_from(items, head, limits.tail, floor), forced)
    if at <= head:
        at = max(forced, head + 1)
    at = _whole_group(items, at)
    at = _with_last_request(items, head, at)
    at = _with_last_answer(items, head, at)
    return at if at > head else _past_results(items, head + 1)


def _floor(length: int, head: int, config: HermesConfig) -> int:
    """Messages that the end has at least; on a short list fewer, so that some are left to summarise."""
    wanted = max(_LEAST_TAIL, min(config.protect_last_n, config.tail_floor))
    return max(_LEAST_TAIL, min(wanted, length - head - _LEAST_TAIL))


def _fitting_from(items: Sequence[Item], head: int, most: int, floor: int) -> int:
    """Start of the end that fits into so many tokens, `floor` messages in any case."""
    size, start = 0, len(items)
    for at in range(len(items) - 1, head - 1, -1):
        size += walk_tokens(items[at].message)
        if size > most and len(items) - at >= floor:
            break
        start = at
    return start


def _past_results(items: Sequence[Item], at: int) -> int:
    while at < len(items) and items[at].message.role == "tool":
        at += 1
    return at


def _whole_group(items: Sequence[Item], at: int) -> int:
    """Moves a cut inside or right behind a group of calls and results back to the message that made the calls."""
    before = at - 1
    while before >= 0 and items[before].message.role == "tool":
        before -= 1
    splits = before < at - 1 or (at < len(items) and items[at].message.role == "tool")
    return before if before >= 0 and splits and items[before].message.calls else at


def _with_last_request(items: Sequence[Item], head: int, at: int) -> int:
    """Moves a cut back to the last request; past it and its answer where the start would split the two."""
    last = next((one for one in range(len(items) - 1, head - 1, -1) if is_request(items[one])), None)
    if last is None or last >= at:
        return at
    if last > head:
        return last
    behind = _past_results(items, head + 1)
    if behind < len(items) and items[behind].message.role == "assistant":
        behind = _past_results(items, behind + 1)
    return behind


def _with_last_answer(items: Sequence[Item], head: int, at: int) -> int:
    """Moves a cut back to the last reply with a text that the user saw."""
    last = next((one for one in range(len(items) - 1, head - 1, -1) if _is_answer(items[one])), None)
    if last is None or last >= at:
        return at
    return _whole_group(items, last)


def _is_answer(item: Item) -> bool:
    message = item.message
    return message.role == "assistant" and bool(message.text.strip()) and not is_summary(item)
