"""What a replay brought: a record for each point at which the policy was called, and sums over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness_nb.agent.driver import Pass
from harness_nb.core.item import ModelInput
from harness_nb.core.plan import Pressure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.lab.step import Step
from harness_nb.lab.totals import Totals

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.lab.future_use import FutureUse
    from harness_nb.render.card import Card

_TEXT_ROWS = 12


@dataclass(frozen=True, kw_only=True, repr=False)
class Replay:
    """A transcript under a policy.

    Attributes:
        transcript: What was replayed.
        policy: Name of the policy.
        steps: The points at which it was called, in order.
        final: The conversation at the end, as the policy saw it.
        settings: The policy's settings by name, its variant among them where it has several.
        answered_by: Name of the model that answered the policy, or `assumed`.
        guarded: Whether guards held the policy.
    """

    transcript: Transcript
    policy: str
    steps: tuple[Step, ...]
    final: View
    settings: Mapping[str, Any] = field(default_factory=dict)
    answered_by: str = "assumed"
    guarded: bool = True

    def __repr__(self) -> str:
        name = f"{self.transcript.name!r}, " if self.transcript.name else ""
        return f"Replay({name}{self.policy!r}, {len(self.transcript)} messages, {len(self.compactions)} compactions)"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self._card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import card_bundle

        return card_bundle(self._card())

    @property
    def window(self) -> int:
        """Context window in tokens."""
        return self.final.model.window

    @cached_property
    def acted(self) -> tuple[Step, ...]:
        """The points at which a plan was carried out, refused or failed."""
        return tuple(step for step in self.steps if step.passes)

    @cached_property
    def compactions(self) -> tuple[Step, ...]:
        """The points at which the list was replaced."""
        return tuple(step for step in self.acted if step.changed)

    def contexts(self) -> Iterator[tuple[Step, ModelInput]]:
        """Every recorded request: its point, and the items as they were sent with it.

        Lists that only grew share their items with the one before (`ModelInput.begins`), so that to look at all of them
        costs no more than to look at what changed.
        """
        return ((step, step.sent) for step in self.steps if step.sent is not None)

    @cached_property
    def future_use(self) -> FutureUse:
        """How much of what the session needed later was still in the context; worked out once."""
        from harness_nb.lab.future_use import future_use

        return future_use(self)

    @property
    def plans(self) -> tuple[Pass, ...]:
        """Every plan that was carried out, refused or failed, in order."""
        return tuple(one for step in self.acted for one in step.passes)

    @cached_property
    def totals(self) -> Totals:
        """Sums over all points."""
        return Totals(self)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each point."""
        return [step.record for step in self.steps]

    def frame(self) -> DataFrame:
        """One row for each point at which the policy was called."""
        from harness_nb.frames import replay_frame

        return replay_frame(self.records)

    @property
    def df(self) -> DataFrame:
        """The same as `frame()`."""
        return self.frame()

    def view(self) -> View:
        """The conversation at the end, as `HarnessAgent.view` gives it."""
        return self.final

    def pressure(self) -> Pressure:
        """How full the context is at the end, as the policy measures it."""
        return self.steps[-1].pressure if self.steps else self.final.pressure()

    def course(self) -> tuple[tuple[int, int, int, int, str | None], ...]:
        """Sizes over the session: (turn, step, tokens, window, mark or None), as `HarnessAgent.course` gives them."""
        points: list[tuple[int, int, int, int, str | None]] = []
        turn = request = 0
        for step in self.steps:
            request = (request if step.turn == turn else 0) + (step.hook == "request")
            turn = step.turn
            if step.changed:
                points.append((turn, request, step.tokens_before, self.window, None))
            points.append((turn, request, step.tokens_after, self.window, step.outcome if step.changed else None))
        return tuple(points)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count, short

        totals = self.totals
        title = f"Replay of {self.transcript.name or 'a transcript'} under {self.policy}"
        line = (
            f"{count(totals.messages, 'message')} in {count(totals.turns, 'turn')} · window {short(self.window)} · "
            f"{count(totals.compactions, 'compaction')} · peak {short(totals.peak_tokens)} tokens"
        )
        rows = [
            (one.turn, one.index, one.hook, one.tokens_before, one.tokens_after, one.reason) for one in self.compactions
        ]
        head = ("turn", "message", "hook", "tokens before", "tokens after", "why")
        sums = [(name.replace("_", " "), value) for name, value in totals.to_dict().items()]
        blocks = (
            Table.of(head, rows, most=_TEXT_ROWS, noun="compaction"),
            Table.of(("", "total"), sums, caption="Totals", is_open=False),
        )
        remarks = len(self.transcript.report)
        notes = [f"{count(remarks, 'remark')} on reading the file: transcript.report"] if remarks else []
        return Card(title, line, blocks, (*self.failure_notes(), *notes))

    def failure_notes(self) -> tuple[str, ...]:
        """Says how many plans failed, and why the first one did: without it a faulty policy only seems idle."""
        failed = [(step, one) for step in self.acted for one in step.passes if one.outcome == "failed"]
        if not failed:
            return ()
        step, one = failed[0]
        first = f"the first at message {step.index}: " if len(failed) > 1 else f"at message {step.index}: "
        return (f"{len(failed):,} of {len(self.plans):,} plans failed, {first}{one.reason}",)
