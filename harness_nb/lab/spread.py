"""How much scores move by chance: replays of one conversation over several seeds, as recorded and with sessions shuffled.

A policy's place in a table means little where the order of the sessions moves its score as far as another policy would.
Replays are deterministic unless their model is not, so that as recorded the seeds tell something only with a model made
from the seed; without one the conversation is played once as recorded, and its spread is 0 by construction.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.datasets.record import Conversation
from harness_nb.lab.evidence import evidence_metrics
from harness_nb.lab.metrics import Compute, Metric, chosen
from harness_nb.lab.replay import replay
from harness_nb.model.base import Model
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

Order = Literal["recorded", "shuffled"]

SEEDS = (0, 1, 2, 3, 4)
METRICS = ("tokens_sent", "peak_tokens", "compactions", "model_calls")
"""Metrics beside those of the conversation's own labels, by default."""

ModelOfSeed = Callable[[int], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """One metric over the seeds, in one order of the sessions.

    Attributes:
        metric: The metric.
        order: `recorded`, or `shuffled` by the seed.
        values: Its value for each seed that has one.
    """

    metric: Metric
    order: Order
    values: tuple[float, ...]

    @property
    def record(self) -> dict[str, Any]:
        """Name, unit and the figures; the deviation is that of a sample, missing for fewer than two values."""
        several = len(self.values) > 1
        return {
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "order": self.order,
            "seeds": len(self.values),
            "mean": statistics.fmean(self.values) if self.values else None,
            "deviation": statistics.stdev(self.values) if several else None,
            "least": min(self.values, default=None),
            "most": max(self.values, default=None),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spread(Carded):
    """Scores of one policy on one conversation over several seeds.

    Attributes:
        conversation: Name of the conversation.
        policy: Name of the policy.
        seeds: The seeds.
        spreadings: One for each metric and order.
    """

    conversation: str
    policy: str
    seeds: tuple[int, ...]
    spreadings: tuple[Spreading, ...]

    def __repr__(self) -> str:
        return f"Spread({self.conversation!r}, {self.policy!r}, seeds {', '.join(map(str, self.seeds))})"

    def of(self, metric: str, order: Order = "shuffled") -> Spreading:
        """One metric in one order.

        Raises:
            ConfigError: There is none of that name.
        """
        found = next((one for one in self.spreadings if (one.metric.name, one.order) == (metric, order)), None)
        if found is None:
            names = ", ".join(dict.fromkeys(one.metric.name for one in self.spreadings))
            raise ConfigError(f"There is no {metric!r} in {order!r} order.", f"There are {names}.", subject=metric)
        return found

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each metric and order."""
        return [one.record for one in self.spreadings]

    @property
    def df(self) -> DataFrame:
        """One row for each metric and order."""
        from harness_nb.frames.lab_frames import spread_frame

        return spread_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table

        rows = [tuple(record.values()) for record in self.records]
        head = ("metric", "unit", "order", "seeds", "mean", "deviation", "least", "most")
        line = f"{self.policy} on {self.conversation} · seeds {', '.join(map(str, self.seeds))}"
        return Card("Spread", line, (Table.of(head, rows, most=40, noun="row"),))


def spread(
    conversation: Conversation,
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    metrics: Sequence[str | Metric | Compute] = METRICS,
    seeds: Sequence[int] = SEEDS,
    window: int | None = None,
    model: str | Model | ModelOfSeed | None = None,
) -> Spread:
    """Replays a conversation for each seed, as recorded and with its sessions shuffled, and scores each replay.

    Args:
        conversation: What is replayed; one of a single session is not shuffled.
        policy: Name of a preset, a preset, or a policy.
        metrics: Metrics beside those that the conversation's own labels allow.
        seeds: Seeds of the order of sessions, and of the model where that is made from one.
        window: Context window in tokens; by default that of the recorded model.
        model: Answers the policy's own calls: a name or a model, a function that makes one from a seed, or None, which lets
            replies be assumed.

    Raises:
        ConfigError: There is no seed, or a metric, the policy or the model is unknown.
    """
    if not seeds:
        raise ConfigError("There is no seed.", "Give at least two.", subject=seeds)
    others = chosen(metrics)
    found: list[Spreading] = []
    for order, plays in _plays(conversation, seeds, model).items():
        rows = [
            [(metric, metric(run)) for metric in (*evidence_metrics(one), *others)]
            for one, answers in plays
            for run in [replay(one.transcript, policy, window=window, model=answers)]
        ]
        found += _spreadings(order, rows)
    name = policy if isinstance(policy, str) else policy.name
    return Spread(conversation=conversation.name, policy=name, seeds=tuple(seeds), spreadings=tuple(found))


Play = tuple[Conversation, str | Model | None]


def _plays(
    conversation: Conversation, seeds: Sequence[int], model: str | Model | ModelOfSeed | None
) -> dict[Order, list[Play]]:
    """What is replayed in each order, and who answers."""

    def answers(seed: int) -> str | Model | None:
        return model(seed) if callable(model) else model

    recorded = seeds if callable(model) else seeds[:1]
    plays: dict[Order, list[Play]] = {"recorded": [(conversation, answers(seed)) for seed in recorded]}
    if len(conversation.starts) > 1:
        plays["shuffled"] = [(conversation.shuffled(seed), answers(seed)) for seed in seeds]
    return plays


def _spreadings(order: Order, rows: Sequence[Sequence[tuple[Metric, float | None]]]) -> Iterator[Spreading]:
    """The values of each metric over some replays."""
    for column in zip(*rows, strict=True):
        values = tuple(float(value) for _, value in column if value is not None)
        yield Spreading(metric=column[0][0], order=order, values=values)
