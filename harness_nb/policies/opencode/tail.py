"""Which turns stay: the newest that fit the budget, and the end of the first that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness_nb.policies.opencode.session import Place, Step
from harness_nb.policies.opencode.sizes import Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What is summarised and what stays.

    Attributes:
        head: Steps to be summarised.
        start: Where what stays begins, or None when nothing does.
        turns: Tokens of the turns that were looked at, oldest first.
        tokens: Tokens of what stays.
    """

    head: tuple[Step, ...]
    start: Place | None = None
    turns: tuple[int, ...] = ()
    tokens: int = 0


def tail(steps: Sequence[Step], sizes: Sizes, *, budget: int, most_turns: int | None) -> Tail:
    """Divides a conversation.

    Args:
        steps: The conversation without earlier compactions.
        sizes: Measures steps.
        budget: Tokens that may stay.
        most_turns: Most turns that may stay, None for any number.
    """
    every = tuple(steps)
    if most_turns is not None and most_turns <= 0:
        return Tail(head=every)
    starts = [at for at, step in enumerate(every) if step.kind == "user"]
    spans = [*pairwise([*starts, len(every)])][-(most_turns or len(starts)) :] if starts else []
    turns = tuple(sizes.tokens(every[start:end]) for start, end in spans)
    at, total = _kept(every, spans, turns, sizes, budget)
    if not at:
        return Tail(head=every, turns=turns)
    return Tail(head=every[:at], start=every[at].place, turns=turns, tokens=total)


def _kept(
    steps: tuple[Step, ...], spans: Sequence[tuple[int, int]], turns: Sequence[int], sizes: Sizes, budget: int
) -> tuple[int | None, int]:
    """Position of the first step that stays, and the tokens from there on."""
    at, total = None, 0
    for (start, end), size in zip(reversed(spans), reversed(turns), strict=True):
        if total + size > budget:
            part = _end_of_turn(steps, start, end, sizes, budget - total)
            return (at, total) if part is None else (part[0], total + part[1])
        at, total = start, total + size
    return at, total


def _end_of_turn(steps: tuple[Step, ...], start: int, end: int, sizes: Sizes, budget: int) -> tuple[int, int] | None:
    """The longest end of a turn that fits, without its user message."""
    if budget <= 0:
        return None
    for at in range(start + 1, end):
        size = sizes.tokens(steps[at:end])
        if size <= budget:
            return at, size
    return None
