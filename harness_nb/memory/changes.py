"""The difference between two versions of curated memory, entry by entry, and a text with some of it applied."""

from __future__ import annotations

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

    Equal entries count as one.

    Args:
        before: The text as it is.
        after: The text as it becomes.
        sources: Facts by where they stand in the logs, for the sources of what is new.
    """
    old, new = _once(entries(before)), _once(entries(after))
    partners = {block.key: block for block in new}
    kept = [(block, partners.pop(block.key)) for block in old if block.key in partners]
    known = {block.key for block, _ in kept}
    changed, removed, added = _changed([block for block in old if block.key not in known], list(partners.values()))
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
    count = len(_once(entries(before)))
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
    places = [at for at, block in enumerate(found) if block.kind == "entry" and block.key == before]
    new = Block("entry", f"{change.after}\n", change.heading)
    stands_there = any(block.kind == "entry" and block.key == new.key for block in found)
    if change.kind == "changed" and places and not stands_there:
        found = [*found[: places[0]], replace(new, heading=found[places[0]].heading), *found[places[0] + 1 :]]
        return _taken_out(found, places[1:])
    if change.kind in ("removed", "moved"):
        found = _taken_out(found, places)
    if change.kind == "removed" or (stands_there and not (change.kind == "moved" and places)):
        return found
    return _placed(found, new)


def _taken_out(found: list[Block], places: Sequence[int]) -> list[Block]:
    """The blocks without some, and without a second blank line where these stood."""
    for at in reversed(places):
        after = found[at + 1 :]
        if at and after and found[at - 1].kind == after[0].kind == "blank":
            after = after[1:]
        found = [*found[:at], *after]
    return found


def _once(found: Iterable[Block]) -> list[Block]:
    """The blocks, of equal ones the first."""
    first: dict[str, Block] = {}
    for block in found:
        first.setdefault(block.key, block)
    return list(first.values())


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
