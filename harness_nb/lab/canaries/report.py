"""What came of planted canaries: survival by kind and round at each budget, and where each kind falls off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.lab.canaries.budgets import Held
from harness_nb.lab.canaries.items import KINDS, Canary, Kind
from harness_nb.lab.canaries.rounds import Round
from harness_nb.lab.carded import Carded

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

CLIFF = 0.5
"""A kind has fallen off in the first round after which less than this part of it is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One policy at one budget with the canaries of one seed.

    Attributes:
        policy: Its name.
        share: The budget, as a part of the list at the first round.
        budget_tokens: The same in tokens.
        seed: Of canaries and places.
        canaries: What was planted.
        held: How the policy fared.
    """

    policy: str
    share: float
    budget_tokens: int
    seed: int
    canaries: tuple[Canary, ...]
    held: Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One kind of canary after one round, all seeds together.

    Attributes:
        policy: Name of the policy.
        share: The budget, as a part of the list at the first round.
        kind: The kind.
        round: 1 for the first.
        planted: How many were planted.
        survived: How many have every code word there.
        stale: Of updated values: how many show the value that was replaced.
        misled: Of these: how many show it without its replacement.
        merged: Of near-duplicate pairs: how many have only one of the two left.
    """

    policy: str
    share: float
    kind: Kind
    round: int
    planted: int
    survived: int
    stale: int
    misled: int
    merged: int

    @property
    def survival(self) -> float:
        """Part that survived, 0 to 1."""
        return self.survived / self.planted


@dataclass(frozen=True, slots=True, repr=False)
class CanaryReport(Carded):
    """Survival of canaries under some policies.

    Attributes:
        transcript: Name of the transcript.
        data_hash: Of its messages as they were, without canaries.
        counter: What counted the tokens.
        model: What answered the policies' own requests, or `assumed`.
        rounds: Rounds of compaction.
        trials: What was tried, in order of policies, budgets and seeds.
    """

    transcript: str
    data_hash: str
    counter: str
    model: str
    rounds: int
    trials: tuple[Trial, ...]

    def __repr__(self) -> str:
        return f"CanaryReport({', '.join(self.policies)}; {self.rounds} rounds)"

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies, in order."""
        return tuple(dict.fromkeys(trial.policy for trial in self.trials))

    @property
    def shares(self) -> tuple[float, ...]:
        """The budgets, as parts of the list at the first round."""
        return tuple(dict.fromkeys(trial.share for trial in self.trials))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that were planted, in order."""
        planted = {canary.kind for trial in self.trials for canary in trial.canaries}
        return tuple(kind for kind in KINDS if kind in planted)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, in order."""
        return tuple(dict.fromkeys(trial.seed for trial in self.trials))

    def of(self, policy: str, share: float) -> tuple[Trial, ...]:
        """The trials of one policy at one budget, one a seed."""
        return tuple(trial for trial in self.trials if (trial.policy, trial.share) == (policy, share))

    def outcomes(self, policy: str, share: float, kind: Kind) -> tuple[Outcome, ...]:
        """A kind of canary under one policy at one budget, a record for each round."""
        trials = self.of(policy, share)
        return tuple(_outcome(trials, kind, at) for at in range(self.rounds))

    def cliff_round(self, policy: str, share: float, kind: Kind) -> int | None:
        """The first round after which less than half of a kind is left, or None where that never happens."""
        return cliff(one.survival for one in self.outcomes(policy, share, kind))

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each policy, budget, seed, round and kind."""
        return [record for trial in self.trials for record in _records(trial, self)]

    @property
    def df(self) -> DataFrame:
        """One row for each policy, budget, seed, round and kind; columns `frames.trials.CANARIES`."""
        from harness_nb.frames.trials import canaries_frame

        return canaries_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.canary_cards import canary_card

        return canary_card(self)


def cliff(survivals: Iterable[float]) -> int | None:
    """Number of the first round below `CLIFF`, or None."""
    return next((number for number, survival in enumerate(survivals, start=1) if survival < CLIFF), None)


def _outcome(trials: Sequence[Trial], kind: Kind, at: int) -> Outcome:
    found = [
        trial.held.rounds[at].sightings[canary.number]
        for trial in trials
        for canary in trial.canaries
        if canary.kind == kind
    ]
    return Outcome(
        policy=trials[0].policy,
        share=trials[0].share,
        kind=kind,
        round=at + 1,
        planted=len(found),
        survived=sum(one.survived for one in found),
        stale=sum(one.shows_stale for one in found),
        misled=sum(one.is_misled for one in found),
        merged=sum(one.is_merged for one in found),
    )


def _records(trial: Trial, report: CanaryReport) -> Iterable[dict[str, Any]]:
    for kind in report.kinds:
        outcomes = [_outcome((trial,), kind, at) for at in range(report.rounds)]
        falls = cliff(one.survival for one in outcomes)
        for one, round_ in zip(outcomes, trial.held.rounds, strict=True):
            yield _record(trial, one, round_) | {"cliff_round": falls, "counter": report.counter, "model": report.model}


def _record(trial: Trial, one: Outcome, round_: Round) -> dict[str, Any]:
    is_update, is_pair = one.kind == "updated value", one.kind == "near-duplicate pair"
    return {
        "policy": trial.policy,
        "budget": trial.share,
        "budget_tokens": trial.budget_tokens,
        "seed": trial.seed,
        "kind": one.kind,
        "round": one.round,
        "planted": one.planted,
        "survived": one.survived,
        "survival": one.survival,
        "stale": one.stale if is_update else None,
        "misled": one.misled if is_update else None,
        "merged": one.merged if is_pair else None,
        "tokens_before": round_.tokens_before,
        "tokens_after": round_.tokens_after,
        "is_held": trial.held.is_held,
        "setting": trial.held.setting,
        "outcome": round_.outcome,
        "model_calls": round_.model_calls,
    }
