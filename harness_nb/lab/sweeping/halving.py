"""Successive halving: many settings on little of the data first, and only the best of them on more.

Kevin Jamieson and Ameet Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", 2016
(arXiv 1502.07943). The budget here is data: the beginning of every conversation, or some of the conversations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from harness_nb.core.config import whole
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import Metric
from harness_nb.lab.sweeping.trials import RandomSearch


class Rung(NamedTuple):
    """One round.

    Attributes:
        number: 1 for the first.
        share: Part of the data that is replayed, above 0 and up to 1.
        trials: How many trials begin it.
    """

    number: int
    share: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessiveHalving:
    """Of all trials only the best `1/factor` are tried on `factor` times as much of the data, until all of it is replayed.

    A policy that acts late does nothing in a short beginning, so what is compared first should be long enough for it:
    `rungs` says how small the first part is, `factor ** (1 - rungs)` of the data.

    Attributes:
        by: Metric by which trials are compared, as a mean over the transcripts; it has to say which direction is better.
        factor: How many trials compete for one place in the next round (default 3).
        rungs: Rounds (default 3).
        over: What there is less of in the first rounds: `messages`, the beginning of every transcript, up to whole turns, or
            `transcripts`, the first of them (default `messages`).
        draw: Draws the trials; None tries every combination (default None).

    Raises:
        ConfigError: A figure is not valid.
    """

    by: str
    factor: int = 3
    rungs: int = 3
    over: Literal["messages", "transcripts"] = "messages"
    draw: RandomSearch | None = None

    def __post_init__(self) -> None:
        whole(self, "factor", least=2)
        whole(self, "rungs", least=1)
        if self.over not in ("messages", "transcripts"):
            raise ConfigError(f"over={self.over!r} is not valid.", "Use 'messages' or 'transcripts'.", subject="over")

    def plan(self, trials: int) -> tuple[Rung, ...]:
        """The rounds for a number of trials."""
        numbers = range(self.rungs)
        return tuple(
            Rung(at + 1, self.factor ** float(at + 1 - self.rungs), max(1, math.ceil(trials / self.factor**at)))
            for at in numbers
        )

    def data(self, transcripts: Sequence[Transcript], share: float) -> list[Transcript]:
        """What is replayed of some transcripts in a round."""
        if self.over == "messages":
            return [beginning(transcript, share) for transcript in transcripts]
        return list(transcripts[: math.ceil(share * len(transcripts))])

    def best(self, scores: Mapping[int, Sequence[Any]], metric: Metric, number: int) -> list[int]:
        """The trials that go on: those with the best mean, the earlier of equal ones; refused ones only in need.

        Args:
            scores: For each trial its figures on the transcripts; None where it was refused.
            metric: What the figures are.
            number: How many go on.
        """
        ranked = sorted(scores, key=lambda trial: (_rank(scores[trial], metric), trial))
        return sorted(ranked[:number])


def _rank(figures: Sequence[Any], metric: Metric) -> float:
    if not figures or any(one is None for one in figures):
        return math.inf
    mean = math.fsum(figures) / len(figures)
    return -mean if metric.better == "higher" else mean


def beginning(transcript: Transcript, share: float) -> Transcript:
    """The first part of a transcript, up to the turn in which that share of its messages is reached, without this turn.

    It has the first turn at least.
    """
    if share >= 1:
        return transcript
    turns = [at for at, message in enumerate(transcript) if message.role == "user" and message.origin == "user"]
    wanted = share * len(transcript)
    ends = [at for at in (*turns[1:], len(transcript)) if at >= wanted]
    fitting = [at for at in turns[1:] if at <= wanted]
    return transcript.first(fitting[-1] if fitting else ends[0] if ends else len(transcript))
