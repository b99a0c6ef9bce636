"""One policy at one budget: canaries are made and planted, the policy is held to the budget, and the rounds are played."""

from __future__ import annotations

from functools import cached_property, partial

from harness_nb.core.transcript import Transcript
from harness_nb.lab.answers import Answers
from harness_nb.lab.canaries.budgets import Given, held, name_of
from harness_nb.lab.canaries.items import made
from harness_nb.lab.canaries.planting import Planted, cuts_of, planted
from harness_nb.lab.canaries.report import Trial
from harness_nb.lab.canaries.rounds import played
from harness_nb.lab.counting import measure_for
from harness_nb.model.base import Model


class Field:
    """A transcript in which canaries are planted.

    Args:
        transcript: What was said.
        rounds: Rounds of compaction.
        per_kind: Canaries of each kind.
        model: Answers the policies' own requests; None lets them be assumed.
    """

    def __init__(self, transcript: Transcript, rounds: int, per_kind: int, model: Model | None) -> None:
        self._transcript, self._per_kind, self._model = transcript, per_kind, model
        self.measure = measure_for(transcript)
        self._cuts = cuts_of(transcript, rounds, self.measure)
        self._planted: dict[int, Planted] = {}

    @cached_property
    def _said(self) -> str:
        """All that was said, so that no code word is one that stands there."""
        return "\n".join(message.text for message in self._transcript)

    def trial(self, policy: Given, share: float, seed: int) -> Trial:
        """One policy at one budget with the canaries of one seed."""
        field = self._with_canaries(seed)
        budget = round(share * field.transcript.tokens(self.measure, 0, self._cuts[0]))
        play = partial(played, field.transcript, field.canaries, self._cuts, measure=self.measure)
        found = held(
            policy,
            budget,
            self._transcript.model or "unknown",
            rehearse=partial(play, answers=Answers(None)),
            play=partial(play, answers=Answers(self._model)),
        )
        return Trial(
            policy=name_of(policy), share=share, budget_tokens=budget, seed=seed, canaries=field.canaries, held=found
        )

    def _with_canaries(self, seed: int) -> Planted:
        if seed not in self._planted:
            canaries = made(seed, self._per_kind, taken=self._said)
            self._planted[seed] = planted(self._transcript, canaries, until=self._cuts[0], seed=seed)
        return self._planted[seed]
