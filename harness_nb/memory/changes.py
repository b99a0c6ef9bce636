"""The difference between two versions of curated memory, entry by entry, and a text with some of it applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harness_nb.memory.outline import Block, blocks, entries, joined
from harness_nb.memory.overlap import is_said, likeness, says

ChangeKind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of one entry.

    Attributes:
        number: Names it within its candidate, from 1.
        kind: `added`, `removed`, `changed` (another text), or `moved` (the same text below another heading).
        heading: Heading that the entry stands below afterwards, or stood below; empty above the first.
        before: The entry as it was, empty when it is added.
        after: The entry as it becomes, empty when it is removed.
        is_lost: Whether what a removed entry said is said by no other entry.
        sources: Log entries that it comes from, as `memory/2026-04-12.md#5`.
    """

    number: int
    kind: ChangeKind
    heading: str = ""
    before: str = ""
    after: str = ""
    is_lost: bool = False
    sources: tuple[str, ...] = ()


def differences(before: str, after: str, sources: Mapping[str, str] | None = None) -> tuple[Change, ...]:
    """What becomes of each entry whose text or heading is not the same; hand-written parts are left out.

    Args:
        before: The text as it is.
        after: The text as it becomes.
        sources: Facts by where they stand in the logs, for the sources of what is new.
    """
    old, new = entries(before), entries(after)
    kept, old_left, new_left = _kept(old, new)
    changed, removed, added = _changed(old_left, new_left)
    texts = [block.bare for block in new]
    found = [(new.index(b), _change("moved", b, a)) for a, b in kept if _heading_key(a) != _heading_key(b)]
    found += [(new.index(b), _change("changed", b, a)) for a, b in changed]
    found += [(new.index(b), _change("added", b)) for b in added]
    found.sort(key=lambda pair: pair[0])
    gone = [replace(_change("removed", a), is_lost=not is_said(a.bare, texts)) for a in removed]
    told = [replace(change, sources=_sources(change, sources or {})) for _, change in found]
    return tuple(replace(change, number=number) for number, change in enumerate([*told, *gone], 1))


def lost_share(before: str, changes: Iterable[Change]) -> float:
    """The share of the entries whose content is gone, 0 to 1."""
    count = len(entries(before))
    return sum(change.is_lost for change in changes) / count if count else 0.0


def with_changes(text: str, changes: Iterable[Change]) -> str:
    """A text with changes made to its entries, wherever these stand by now; everything else stays as it is.

    An entry that is to go and is not there is gone already. One that is to change and is not there was changed by
    somebody else: the new text is added, so that nothing is lost. An entry that stands there is not added again.
    """
    found = blocks(text)
    for change in changes:
        found = _with(found, change)
    return joined(_without_empty_headings(found, text))


def _kept(old: Sequence[Block], new: Sequence[Block]) -> tuple[list[tuple[Block, Block]], list[Block], list[Block]]:
    """Entries with the same text in both, those below the same heading first; and what is left of both."""
    kept: list[tuple[Block, Block]] = []
    old_left, new_left = list(old), list(new)
    for of_heading in (True, False):
        partners: dict[tuple[str, str], list[Block]] = defaultdict(list)
        for block in reversed(new_left):
            partners[_place(block, of_heading)].append(block)
        for block in old_left:
            if found := partners[_place(block, of_heading)]:
                kept.append((block, found.pop()))
        taken = {id(block) for pair in kept for block in pair}
        old_left, new_left = ([block for block in left if id(block) not in taken] for left in (old_left, new_left))
    return kept, old_left, new_left


def _place(block: Block, of_heading: bool) -> tuple[str, str]:
    """What a block and its partner have in common: the text, and at first the heading, too."""
    return block.key, _heading_key(block) if of_heading else ""


def _changed(old: Sequence[Block], new: Sequence[Block]) -> tuple[list[tuple[Block, Block]], list[Block], list[Block]]:
    """Pairs of what looks like versions of one entry, the most alike first; and what is left of both."""
    scores = [(likeness(a.bare, b.bare), i, j) for i, a in enumerate(old) for j, b in enumerate(new)]
    pairs: dict[int, int] = {}
    for score, i, j in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
        if score and i not in pairs and j not in pairs.values():
            pairs[i] = j
    changed = [(old[i], new[j]) for i, j in sorted(pairs.items())]
    removed = [block for i, block in enumerate(old) if i not in pairs]
    added = [block for j, block in enumerate(new) if j not in pairs.values()]
    return changed, removed, added


def _change(kind: ChangeKind, block: Block, before: Block | None = None) -> Change:
    text = block.text.strip("\n")
    if kind == "removed":
        return Change(number=0, kind=kind, heading=block.heading, before=text)
    return Change(
        number=0, kind=kind, heading=block.heading, before=before.text.strip("\n") if before else "", after=text
    )


def _sources(change: Change, sources: Mapping[str, str]) -> tuple[str, ...]:
    if change.kind not in ("added", "changed"):
        return ()
    entry = Block("entry", change.after).bare
    return tuple(where for where, fact in sources.items() if says(entry, fact))


def _heading_key(block: Block) -> str:
    return Block("heading", block.heading).key


def _with(found: list[Block], change: Change) -> list[Block]:
    before = Block("entry", change.before).key if change.before else None
    at = next((n for n, block in enumerate(found) if block.kind == "entry" and block.key == before), None)
    if change.kind == "removed":
        return found if at is None else _taken_out(found, at)
    new = Block("entry", f"{change.after}\n", change.heading)
    if change.kind == "changed" and at is not None:
        return [*found[:at], replace(new, heading=found[at].heading), *found[at + 1 :]]
    if change.kind == "moved" and at is not None:
        found = _taken_out(found, at)
    if any(block.kind == "entry" and block.key == new.key for block in found):
        return found
    return _placed(found, new)


def _taken_out(found: list[Block], at: int) -> list[Block]:
    """The blocks without one, and without a second blank line where it stood."""
    after = found[at + 1 :]
    if at and after and found[at - 1].kind == after[0].kind == "blank":
        after = after[1:]
    return [*found[:at], *after]


def _placed(found: list[Block], new: Block) -> list[Block]:
    """The blocks with an entry at the end of its section, which is made where there is none."""
    key = _heading_key(new)
    section = [n for n, block in enumerate(found) if _heading_key(block) == key and block.kind in ("heading", "entry")]
    if not section and new.heading:
        heading = [Block("heading", f"## {new.heading}\n", new.heading), Block("blank", "\n")]
        space = [Block("blank", "\n")] if found and found[-1].kind != "blank" else []
        return [*found, *space, *heading, new]
    if not section:
        return [new, Block("blank", "\n"), *found]
    at = section[-1] + 1
    space = [Block("blank", "\n")] if found[at - 1].kind == "heading" else []
    return [*found[:at], *space, new, *found[at:]]


def _without_empty_headings(found: Sequence[Block], before: str) -> list[Block]:
    """The blocks without the headings that lost their last entry; those that had none before stay."""
    had = {_heading_key(block) for block in entries(before)}
    have = {_heading_key(block) for block in found if block.kind in ("entry", "hand")}
    gone = had - have - {""}
    return [block for block in found if _heading_key(block) not in gone or block.kind not in ("heading", "blank")]
