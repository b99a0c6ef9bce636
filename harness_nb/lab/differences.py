"""Where policies differ: the first point of a conversation after which they would not show the model the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_nb.core.item import Item, ModelInput
from harness_nb.lab.carded import Carded
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step

if TYPE_CHECKING:
    from harness_nb.render.card import Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What one policy did at a point.

    Attributes:
        policy: Its name.
        hook: Why it was called, or empty where it was not.
        outcome: Its plan's word for what it did.
        reason: Why, in words.
        tokens_before: Size of the model input before.
        tokens_after: The same after.
        kept: Indices of the messages that it then shows word for word.
        stood_for: Indices of those that a summary or a note stands for.
    """

    policy: str
    hook: str
    outcome: str
    reason: str
    tokens_before: int
    tokens_after: int
    kept: frozenset[int]
    stood_for: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference(Carded):
    """The first point at which some policies differ.

    Attributes:
        index: Messages said by then.
        turn: Number of the turn.
        deeds: What each did there.
    """

    index: int
    turn: int
    deeds: tuple[Deed, ...]

    def __repr__(self) -> str:
        return (
            f"Difference(after message {self.index}: {', '.join(f'{one.policy} {one.outcome}' for one in self.deeds)})"
        )

    def _card(self) -> Card:
        from harness_nb.render.comparison_cards import difference_card

        return difference_card(self)

    @property
    def only_some_keep(self) -> tuple[int, ...]:
        """Indices of the messages that some show word for word there and others do not, in ascending order."""
        kept = [deed.kept for deed in self.deeds]
        return tuple(sorted(frozenset.union(*kept) - frozenset.intersection(*kept)))


def first_difference(runs: Sequence[Replay], names: Sequence[str] = ()) -> Difference | None:
    """The first point after which the policies of some replays of one transcript show different lists, or None.

    They are compared wherever one of them replaced its list, after everything that happened at that length of the
    conversation.

    Args:
        runs: The replays.
        names: What to call the policies, where not by their own names.
    """
    called = names or [run.policy for run in runs]
    points = sorted({step.index for run in runs for step in run.compactions})
    courses = [_Course(run) for run in runs]
    for index in points:
        steps = [course.at(index) for course in courses]
        if _differ(steps):
            turn = max(step.turn for step in steps if step is not None)
            deeds = tuple(_deed(*one, index) for one in zip(called, runs, steps, strict=True))
            return Difference(index=index, turn=turn, deeds=deeds)
    return None


class _Course:
    """The steps of one replay by length of the conversation, walked through once."""

    def __init__(self, run: Replay) -> None:
        self._at: dict[int, Step] = {}
        for step in run.steps:
            known = self._at.get(step.index)
            if known is None or step.changed or not known.changed:
                self._at[step.index] = step

    def at(self, index: int) -> Step | None:
        """The last step there that changed something, else the last one; None where the policy was not called."""
        return self._at.get(index)


def _differ(steps: Sequence[Step | None]) -> bool:
    """Whether the lists differ; a policy that was not called, or changed nothing, still shows all that was said."""
    changed = [step for step in steps if step is not None and step.changed]
    return len(changed) < len(steps) or any(step.shown != changed[0].shown for step in changed)


def _deed(name: str, run: Replay, step: Step | None, index: int) -> Deed:
    if step is None:
        before = next((one for one in reversed(run.steps) if one.index <= index), None)
        tokens = before.tokens_after if before is not None else 0
        shown = before.shown if before is not None else ModelInput()
        return _made(name, "", "unchanged", "it is not called at this point", tokens, tokens, shown)
    return _made(name, step.hook, step.outcome, step.reason, step.tokens_before, step.tokens_after, step.shown)


def _made(policy: str, hook: str, outcome: str, reason: str, before: int, after: int, shown: Iterable[Item]) -> Deed:
    items = tuple(shown)
    return Deed(
        policy=policy,
        hook=hook,
        outcome=outcome,
        reason=reason,
        tokens_before=before,
        tokens_after=after,
        kept=frozenset(item.index for item in items if item.index is not None and item.how == "kept"),
        stood_for=frozenset(index for item in items for index in item.stands_for),
    )
