"""A session as OpenCode stores it, step by step and in the order of writing, and how it is read after compactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harness_nb.core.item import Item
from harness_nb.core.messages import Message

Place = tuple[int, int]
"""Where a step stands in the order of writing: behind which message of the log, and as which of those there."""

Kind = Literal["user", "marker", "assistant", "summary"]

MARKER_TEXT = "Where do we stand now?"
FAILED_TEXT = "Earlier messages were left out, and no summary of them could be made."
CLEARED_TEXT = "[This old tool output was erased]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stored message: what a person said, a marker, a summary, or a reply with the results that answer it.

    Attributes:
        kind: Which of these.
        items: Its items; none for a summary that failed.
        place: Where it stands.
        tail_start: Of a marker: where what it left in place begins, or None.
        state: Of a marker and of its summary: `done`, `failed`, or `overflow` (failed, but finished).
        is_apart: Of a summary: it answers no marker, and nothing is cut for it.
    """

    kind: Kind
    items: tuple[Item, ...]
    place: Place
    tail_start: Place | None = None
    state: str = "done"
    is_apart: bool = False

    @property
    def first(self) -> Item:
        """Its first item."""
        return self.items[0]

    @property
    def completes(self) -> bool:
        """Whether it is a summary that completes a marker."""
        return self.kind == "summary" and self.state == "done" and not self.is_apart


# Items that OpenCode makes


def marker_item(
    place: Place, *, tail_start: Place | None, state: str = "done", failure: str = "", index: int | None = None
) -> Item:
    """The question to which a summary is the answer; after a failure it says what is missing."""
    meta: dict[str, object] = {"opencode": "marker", "at": list(place), "state": state}
    meta |= {"tail_start": None if tail_start is None else list(tail_start)}
    if state == "done":
        return Item(index, Message.user(MARKER_TEXT, origin="harness"), "note", (), meta)
    meta["failed"] = failure or state
    return Item(index, Message.user(FAILED_TEXT, origin="harness"), "summary", (), meta)


def made_item(kind: str, place: Place, message: Message, **meta: object) -> Item:
    """A summary or a note that OpenCode adds behind a marker."""
    how = "summary" if kind == "summary" else "note"
    return Item(None, message, how, (), {"opencode": kind, "at": list(place), **meta})  # type: ignore[arg-type]


def place_of(item: Item, before: Place = (-1, 0)) -> Place:
    """Where an item stands; one that says nothing of it stands with the one before it."""
    at = item.meta.get("at")
    if isinstance(at, list | tuple) and len(at) == 2:  # noqa: PLR2004 - a pair
        return int(at[0]), int(at[1])
    return before if item.index is None else (item.index, 0)


# From items to steps and back


def stored(items: Iterable[Item]) -> tuple[Step, ...]:
    """The steps that some items belong to, in the order of writing."""
    placed: list[tuple[Place, Item]] = []
    last: Place = (-1, 0)
    for item in items:
        last = place_of(item, last)
        placed.append((last, item))
    steps: list[Step] = []
    for place, item in sorted(placed, key=lambda one: one[0]):
        if item.message.role == "tool" and steps and steps[-1].kind == "assistant":
            steps[-1] = replace(steps[-1], items=(*steps[-1].items, item))
        else:
            steps += _begun(place, item)
    return tuple(steps)


def _begun(place: Place, item: Item) -> list[Step]:
    """The step that an item begins; behind a marker without success comes the summary that failed."""
    made = item.meta.get("opencode")
    if made == "marker":
        start, state = item.meta.get("tail_start"), str(item.meta.get("state", "done"))
        tail = (int(start[0]), int(start[1])) if isinstance(start, list | tuple) else None
        marker = Step(kind="marker", items=(item,), place=place, tail_start=tail, state=state)
        return [marker] if state == "done" else [marker, Step(kind="summary", items=(), place=place, state=state)]
    if made == "summary":
        return [Step(kind="summary", items=(item,), place=place, is_apart=bool(item.meta.get("apart")))]
    return [Step(kind="user" if item.message.role == "user" else "assistant", items=(item,), place=place)]


def items_of(steps: Iterable[Step]) -> tuple[Item, ...]:
    """The items of some steps, in order."""
    return tuple(item for step in steps for item in step.items)


def read(steps: Sequence[Step]) -> tuple[Step, ...]:
    """What the model sees: from the newest step back to the last completed marker, or to the tail that it left in place."""
    kept: list[Step] = []
    is_answered, until = False, None
    for step in reversed(steps):
        kept.append(step)
        if until is not None:
            if step.place == until:
                break
        elif step.kind == "marker" and is_answered:
            if step.tail_start is None:
                break
            is_answered, until = False, step.tail_start
        else:
            is_answered = is_answered or step.completes
    return _marker_first(kept[::-1])


def _marker_first(steps: list[Step]) -> tuple[Step, ...]:
    """Puts the newest marker that left a tail, and what came of it, in front of that tail; what is older is gone."""
    at = next((at for at in range(len(steps) - 1, -1, -1) if steps[at].tail_start is not None), None)
    if at is None:
        return tuple(steps)
    tail = next((other for other in range(at) if steps[other].place == steps[at].tail_start), None)
    answer = next((other for other in range(at + 1, len(steps)) if steps[other].kind == "summary"), None)
    if tail is None or answer is None:
        return tuple(steps)
    return (*steps[at : answer + 1], *steps[tail:at], *steps[answer + 1 :])


def completed(steps: Sequence[Step]) -> list[tuple[Step, Step]]:
    """Completed compactions: each marker with its summary."""
    found = []
    marker: Step | None = None
    for step in steps:
        if step.kind == "marker":
            marker = step
        elif step.completes and marker is not None:
            found.append((marker, step))
            marker = None
    return found
