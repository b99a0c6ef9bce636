"""Canaries: what does a policy lose when it compacts again and again, at a size that is the same for all?

Statements with unguessable code words are planted into messages of a transcript. The first half of it is said, the policy
compacts, a part more is said, the policy compacts again, and so on. After each round the list that the next request would
send is searched for the code words; an item survives only if all of its words are there. That a word is there does not
prove that a model would use it; that it is gone proves that it can't.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_nb.errors import ConfigError
from harness_nb.lab.progress import Progress, following

if TYPE_CHECKING:
    from harness_nb.core.transcript import Transcript
    from harness_nb.lab.canaries.budgets import Given
    from harness_nb.lab.canaries.report import CanaryReport, Trial
    from harness_nb.model.base import Model


def canaries(
    transcript: Transcript,
    policies: Given | Sequence[Given] = "harness",
    *,
    budgets: Sequence[float] = (0.1, 0.2, 0.3),
    rounds: int = 5,
    per_kind: int = 5,
    seeds: Sequence[int] = (0,),
    model: str | Model | None = "offline",
    progress: Progress | bool = False,
) -> CanaryReport:
    """Plants canaries in a transcript and counts which survive rounds of compaction at fixed budgets.

    Args:
        transcript: What was said; it stays as it is.
        policies: Names of presets, presets, or policies.
        budgets: Most that a round may leave, as parts of the list at the first round.
        rounds: Rounds of compaction.
        per_kind: Canaries of each kind.
        seeds: Each plants other canaries in other places.
        model: Answers the policies' own requests: a name, a model, or None, which lets replies be assumed; then summaries
            hold nothing and the figures are the floor of each policy.
        progress: True for a bar, or what is called with the trials done and all of them.

    Returns:
        Survival by policy, budget, round and kind; shows itself and has `.df`.

    Raises:
        ConfigError: The transcript is too short, a policy is unknown or has no compaction, or a number is out of range.
    """
    from harness_nb.lab.canaries.report import CanaryReport
    from harness_nb.lab.canaries.trying import Field
    from harness_nb.lab.score import data_hash
    from harness_nb.model.resolve import resolve

    given = [policies] if not isinstance(policies, Sequence) or isinstance(policies, str) else list(policies)
    _check(budgets, rounds, per_kind)
    answering = resolve(model) if model is not None else None
    field = Field(transcript, rounds, per_kind, answering)
    work = [(policy, share, seed) for policy in given for share in budgets for seed in seeds]
    if not work:
        raise ConfigError("There is nothing to try.", "Give at least one policy, one budget and one seed.")
    tried: list[Trial] = []
    with following(progress, len(work), "trials") as told:
        for policy, share, seed in work:
            tried.append(field.trial(policy, share, seed))
            told(1)
    return CanaryReport(
        transcript=transcript.name,
        data_hash=data_hash(transcript),
        counter=field.measure.name,
        model=answering.limits.name if answering is not None else "assumed",
        rounds=rounds,
        trials=tuple(tried),
    )


def _check(budgets: Sequence[float], rounds: int, per_kind: int) -> None:
    for share in budgets:
        if not 0 < share < 1:
            raise ConfigError(f"A budget can't be {share!r}.", "Give a part of the input, above 0 and below 1.")
    for name, number in (("rounds", rounds), ("per_kind", per_kind)):
        if number < 1:
            raise ConfigError(f"{name} can't be {number!r}.", "Give 1 or more.", subject=name)
