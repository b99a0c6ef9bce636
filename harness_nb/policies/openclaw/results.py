"""How OpenClaw shortens tool results: each to a cap, and the oldest ones first where all together are too long."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Part, Text
from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.policies.openclaw.pairs import safe_cut, safe_tail, whole_pairs
from harness_nb.policies.openclaw.sizes import result_chars
from harness_nb.policies.openclaw.wording import ELIDED, MIDDLE, NOTICE, omitted, omitted_in_short

LEAST_STORED_CHARS = 2_000
"""Characters that stay of a result when it is stored, at least."""

_WINDOW_SHARE = 0.3
_CAPS = ((200_000, 64_000), (100_000, 32_000), (0, 16_000))
_AGGREGATE_FACTOR = 4
_TAIL_SHARE, _TAIL_CHARS, _LOOKED_AT_CHARS = 0.3, 4_000, 2_000
_LINE_SHARE, _TAIL_LINE_SHARE = 0.8, 0.2
_WORDS = re.compile(
    r"\b(?:error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code|total|summary|result|complete|finished"
    r"|done)\b",
    re.ASCII,
)
_CUT_NOTICE = re.compile(r"\[\.\.\. ([0-9]+) ")

Notice = Callable[[int], str]


def result_cap(window: int, configured: int | None) -> int:
    """Longest result in characters for a window: by its size, and never above three tenths of it."""
    usual = next(cap for least, cap in _CAPS if window >= least) if configured is None else configured
    return min(int(window * _WINDOW_SHARE) * 4, max(1, usual))


def aggregate_cap(window: int, per_result: int) -> int:
    """Most characters of all results together."""
    return max(max(1, per_result) * _AGGREGATE_FACTOR, 2 * window)


# One text


def cut_text(text: str, most: int, least: int, notice: Notice = omitted) -> str:
    """A text of at most `most` units with a notice at its end: its head, or head and tail where the tail says much.

    Args:
        text: The text.
        most: Most units.
        least: Units that stay, at least, as far as the notice leaves room.
        notice: Gives the notice for a number of units left out.
    """
    size = utf16_len(text)
    if size <= most:
        return text
    least = _room(most, least, notice)
    budget = max(least, most - len(notice(max(1, size - most))))
    kept = _head_and_tail(text, budget, least) or utf16_cut(text, 0, _line_end(text, budget))
    return _with_notice(whole_pairs(kept), size, most, notice)


def _room(most: int, least: int, notice: Notice) -> int:
    return max(0, min(least, max(0, most - len(notice(1)))))


def _head_and_tail(text: str, budget: int, least: int) -> str:
    """Head, mark and tail; empty where the tail says nothing or there is no room."""
    tail = min(int(budget * _TAIL_SHARE), _TAIL_CHARS)
    head = budget - tail - len(MIDDLE)
    if budget <= 2 * least or head <= least or not _says_much(safe_tail(text, _LOOKED_AT_CHARS)):
        return ""
    start = utf16_len(text) - tail
    line = _find(text, start)
    if line is not None and line < start + tail * _TAIL_LINE_SHARE:
        start = line + 1
    return whole_pairs(utf16_cut(text, 0, _line_end(text, head))) + MIDDLE + whole_pairs(utf16_cut(text, start))


def _says_much(tail: str) -> bool:
    """Whether the end of a result reports an error or an outcome, or closes a JSON value."""
    told = tail.strip().lower()
    return told.endswith("}") or _WORDS.search(told) is not None


def _line_end(text: str, budget: int) -> int:
    """Where to cut: at the last line end in the budget, if it lies in its last fifth."""
    line = utf16_cut(text, 0, budget + 1).rfind("\n")
    at = -1 if line < 0 else utf16_len(utf16_cut(text, 0, budget + 1)[:line])
    return at if at > budget * _LINE_SHARE else budget


def _find(text: str, start: int) -> int | None:
    """Position of the first line end from a position on, in units."""
    rest = utf16_cut(text, start)
    at = rest.find("\n")
    return None if at < 0 else start + utf16_len(rest[:at])


def _with_notice(kept: str, size: int, most: int, notice: Notice) -> str:
    """Kept text and notice, the text shortened until both fit."""
    while True:
        length = utf16_len(kept)
        made = kept + notice(max(1, size - length))
        over = utf16_len(made) - most
        if over <= 0:
            return made
        if not kept:
            return safe_cut(made, most)
        shorter = whole_pairs(utf16_cut(kept, 0, max(0, length - over)))
        kept = shorter if len(shorter) < len(kept) else kept[:-1]


def kept_chars(text: str) -> tuple[int, int]:
    """How much of a text is left in front of and behind the mark in its middle, in units; not its notice."""
    number = _CUT_NOTICE.match(text)
    if number and omitted(int(number[1])).startswith(text):
        return 0, 0
    bare = NOTICE.sub("", text)
    head, _, tail = bare.partition(MIDDLE)
    return utf16_len(head), utf16_len(tail)


# One result


def cut_result(item: Item, most: int, least: int, notice: Notice = omitted) -> Item:
    """A result of at most `most` characters; texts of several parts share them by length."""
    size = result_chars(item.message)
    if item.message.role != "tool" or size <= most:
        return item
    least = _room(most, least, notice)
    parts = tuple(_cut_part(part, size, most, least, notice) for part in item.message.parts)
    return _with_parts(item, parts, "truncated")


def _cut_part(part: Part, size: int, most: int, least: int, notice: Notice) -> Part:
    if not isinstance(part, Text):
        return part
    own = utf16_len(part.text)
    share = int(most * (own / size))
    budget = max(1, min(most, max(least + len(notice(max(1, own - share))), share)))
    return replace(part, text=cut_text(part.text, budget, least, notice))


def _with_parts(item: Item, parts: tuple[Part, ...], how: str) -> Item:
    message = _single(item.message, parts)
    return edits.edited(item, message, "cleared" if how == "cleared" else "truncated")


def _single(message: Message, parts: tuple[Part, ...]) -> Message:
    if isinstance(message.content, str) and len(parts) == 1 and isinstance(parts[0], Text):
        return replace(message, content=parts[0].text)
    return replace(message, content=parts)


def _emptied(item: Item, budget: int) -> Item:
    """A result whose texts are replaced by a mark, as much of it as fits."""
    parts: list[Part] = []
    for part in item.message.parts:
        if isinstance(part, Text):
            shown = ELIDED[: max(0, budget)]
            budget = max(0, budget - len(shown))
            part = replace(part, text=shown)
        parts.append(part)
    return _with_parts(item, tuple(parts), "cleared")


# All results


@dataclass(frozen=True, slots=True)
class Caps:
    """Results of a list, shortened.

    Attributes:
        items: The list.
        changed: How many results are shorter.
        under_pressure: Whether all together were too long although each kept its cap.
        saved_chars: Characters saved.
    """

    items: tuple[Item, ...]
    changed: int
    under_pressure: bool
    saved_chars: int


def capped_results(items: Sequence[Item], per_result: int, aggregate: int, *, spare_last: bool) -> Caps:
    """Shortens each result above a cap, and then the oldest ones until all together keep to another.

    Args:
        items: The list.
        per_result: Most characters of one result.
        aggregate: Most characters of all of them.
        spare_last: Whether the results at the very end keep a minimum and give nothing to the others.
    """
    last = _trailing(items) if spare_last else frozenset()
    first = tuple(
        cut_result(item, per_result, LEAST_STORED_CHARS if at in last else 0) for at, item in enumerate(items)
    )
    changes, under_pressure = _aggregated(first, aggregate, last)
    made = tuple(changes.get(at, item) for at, item in enumerate(first))
    changed = sum(new is not old for new, old in zip(made, items, strict=True))
    saved = sum(result_chars(old.message) - result_chars(new.message) for new, old in zip(made, items, strict=True))
    return Caps(made, changed, under_pressure, max(0, saved))


def _trailing(items: Sequence[Item]) -> frozenset[int]:
    """Positions of the results at the very end."""
    start = len(items)
    while start and items[start - 1].message.role == "tool":
        start -= 1
    return frozenset(range(start, len(items)))


def _aggregated(items: Sequence[Item], most: int, spared: frozenset[int]) -> tuple[Mapping[int, Item], bool]:
    """Results by position that give way, and whether any had to."""
    sizes = {at: result_chars(one.message) for at, one in enumerate(items) if one.message.role == "tool"}
    sizes = {at: size for at, size in sizes.items() if size}
    left = sum(sizes.values()) - most
    if len(sizes) < 2 or left <= 0:
        return {}, False
    notice: Notice = omitted_in_short if most < len(sizes) * len(omitted(1)) else omitted
    able = [at for at in sizes if at not in spared]
    changes: dict[int, Item] = {}
    for at in able:
        if left <= 0:
            break
        left -= _shorten(items, changes, at, sizes[at], left, notice)
    for at in able:
        if left <= 0:
            break
        before = changes.get(at, items[at])
        size = result_chars(before.message)
        emptied = _emptied(items[at], size - left)
        saved = size - result_chars(emptied.message)
        if saved > 0:
            changes[at] = emptied
            left -= saved
    return changes, True


def _shorten(items: Sequence[Item], changes: dict[int, Item], at: int, size: int, left: int, notice: Notice) -> int:
    """Shortens one result as far as needed and possible; gives the characters saved."""
    least = len(notice(1))
    able = size - least
    if able <= 0:
        return 0
    made = cut_result(items[at], max(least, size - min(able, left)), 0, notice)
    saved = size - result_chars(made.message)
    if saved <= 0:
        return 0
    changes[at] = made
    return saved
