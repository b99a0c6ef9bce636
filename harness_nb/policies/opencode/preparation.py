"""What a compaction works on, decided before a model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.policies.opencode.config import Budget, OpenCodeConfig
from harness_nb.policies.opencode.session import Step, completed, read
from harness_nb.policies.opencode.sizes import Sizes
from harness_nb.policies.opencode.tail import Tail, tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a compaction works on.

    Attributes:
        steps: The session, in the order of writing.
        chosen: What is summarised and what stays.
        anchor: The earlier summary that is updated, or None when there is none with a text.
        replay: The user's message that is put behind the summary once more, or None.
    """

    steps: tuple[Step, ...]
    chosen: Tail
    anchor: Step | None
    replay: Step | None


def prepare(
    steps: tuple[Step, ...], sizes: Sizes, config: OpenCodeConfig, limits: Budget, *, replays: bool = False
) -> Preparation:
    """Divides a session.

    Args:
        steps: The session, in the order of writing.
        sizes: Measures steps.
        config: Settings.
        limits: The budgets in force.
        replays: After an overflow: the last message of the user is left out and put behind the summary.
    """
    seen = read(steps)
    replay, material = _replayed(seen) if replays else (None, seen)
    earlier = completed(material)
    hidden = {id(step) for pair in earlier for step in pair}
    rest = [step for step in material if id(step) not in hidden]
    chosen = tail(rest, sizes, budget=limits.tail, most_turns=config.tail_turns)
    newest = earlier[-1][1] if earlier else None
    anchor = newest if newest is not None and newest.first.message.text.strip() else None
    return Preparation(steps=steps, chosen=chosen, anchor=anchor, replay=replay)


def _replayed(seen: Sequence[Step]) -> tuple[Step | None, Sequence[Step]]:
    """The last message of the user and what was before it; nothing is replayed when no other message is there."""
    at = next((at for at in range(len(seen) - 1, -1, -1) if seen[at].kind == "user"), None)
    if at is None or not any(step.kind == "user" for step in seen[:at]):
        return None, seen
    return seen[at], seen[:at]
