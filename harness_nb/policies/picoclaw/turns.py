"""Turns as PicoClaw cuts them, and the clean-up of calls and results in front of a request."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item


def is_prompt(item: Item) -> bool:
    """Whether a turn begins with it: a message of the log in the user's role."""
    return item.index is not None and item.message.role == "user"


def starts(items: Sequence[Item]) -> list[int]:
    """Positions at which turns begin."""
    return [at for at, item in enumerate(items) if is_prompt(item)]


def boundary(items: Sequence[Item], wanted: int) -> int:
    """Where a list may be cut: at the start of a turn at or before a position, else after it.

    0 where all of it is one turn; the position itself where no turn begins at all.
    """
    if wanted <= 0:
        return 0
    if wanted >= len(items):
        return len(items)
    found = starts(items)
    if not found:
        return wanted
    before = [at for at in found if 0 < at <= wanted]
    after = [at for at in found if at > wanted]
    return before[-1] if before else after[0] if after else 0


def without_first_turn(items: Sequence[Item]) -> tuple[Item, ...]:
    """A list from its second turn on, empty when there is none."""
    at = next((at for at in starts(items) if at > 0), len(items))
    return tuple(items[at:])


def sanitised(items: Sequence[Item]) -> tuple[Item, ...]:
    """A list without calls and results that don't match, and without calls that follow neither user nor result."""
    return _whole(_in_place(items))


def _in_place(items: Sequence[Item]) -> list[Item]:
    kept: list[Item] = []
    for item in items:
        role = item.message.role
        if role == "system" or (role == "tool" and not _follows_call(kept)):
            continue
        if item.message.calls and not (kept and kept[-1].message.role in ("user", "tool")):
            continue
        kept.append(item)
    return kept


def _follows_call(kept: Sequence[Item]) -> bool:
    last = next((item for item in reversed(kept) if item.message.role != "tool"), None)
    return last is not None and bool(last.message.calls)


def _whole(items: Sequence[Item]) -> tuple[Item, ...]:
    """Drops rounds in which a result or an id is missing, and results that were not asked for."""
    kept: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        at += 1
        if not item.message.calls:
            kept += [item] if item.message.role != "tool" else []
            continue
        end = next((to for to in range(at, len(items)) if items[to].message.role != "tool"), len(items))
        kept += _round(item, items[at:end])
        at = end
    return tuple(kept)


def _round(call: Item, results: Sequence[Item]) -> list[Item]:
    wanted = {one.id for one in call.message.calls}
    found: dict[str, Item] = {}
    for item in results:
        name = item.message.call_id or ""
        if name in wanted:
            found.setdefault(name, item)
    if "" in wanted or wanted - found.keys():
        return []
    return [call, *(item for item in results if found.get(item.message.call_id or "") is item)]
