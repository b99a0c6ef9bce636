"""The recorded requests of a replay in the order they were sent, each with what it shares with the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from harness_nb.core.item import Item, ModelInput
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step


class Sent(NamedTuple):
    """One recorded request.

    Attributes:
        step: The point of the replay at which it was made.
        items: The items that it sent.
        kept: How many items at the start are sent as in the request before.
        at: When the last message before it was said, which is when it was made, or None.
        reply: Log index of the recorded reply.
    """

    step: Step
    items: ModelInput
    kept: int
    at: datetime | None
    reply: int


def sent_requests(run: Replay) -> Iterator[Sent]:
    """Every recorded request of a replay; only where a plan changed the list are two lists compared."""
    before: ModelInput | None = None
    for step, items in run.contexts():
        said = run.transcript[step.index - 1].time if step.index else None
        yield Sent(step, items, shared(before, items), said, step.index)
        before = items


def shared(before: ModelInput | None, now: ModelInput) -> int:
    """How many items at the start of two lists send the same; system texts, which join the prompt, all or none."""
    if before is None:
        return 0
    if before.begins(now):
        return len(before)
    old, new = before[:], now[:]
    if _system(old) != _system(new):
        return 0
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if not _same(a, b)), min(len(old), len(new)))


def _same(one: Item, other: Item) -> bool:
    return one.message is other.message or one.message == other.message


def _system(items: Sequence[Item]) -> list[str]:
    return [item.message.text for item in items if item.message.role == "system"]
