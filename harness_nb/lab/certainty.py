"""How sure a figure is: intervals by bootstrap over conversations, an exact sign test, agreement between judges."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_nb.errors import ConfigError

RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval.

    Attributes:
        mean: Mean of all values.
        low: Lower end.
        high: Upper end.
        level: Share of resamples between the ends.
        clusters: Conversations that were resampled.
    """

    mean: float
    low: float
    high: float
    level: float
    clusters: int

    def __str__(self) -> str:
        """Mean and ends in percent."""
        return f"{100 * self.mean:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def bootstrap(
    values: Mapping[str, Sequence[float]], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The mean of all values with its percentile interval, conversations resampled with replacement.

    Questions about one conversation depend on each other, so that conversations are drawn, each with all its values.

    Args:
        values: The values of each conversation; those without any are left out.
        seed: Of the draws.
        resamples: Number of draws.
        level: Share of resampled means between the ends, above 0 and below 1.

    Raises:
        ConfigError: There is no value, or the level is out of range.
    """
    if not 0 < level < 1:
        raise ConfigError(f"level={level!r} is no share.", "Give a number between 0 and 1, such as 0.95.")
    clusters = [(math.fsum(one), len(one)) for one in values.values() if one]
    if not clusters:
        raise ConfigError("There is no value to resample.", "Give at least one answered question.")
    draw = random.Random(seed)  # noqa: S311 - a resample, no secret
    means = sorted(_mean(draw.choices(clusters, k=len(clusters))) for _ in range(resamples))
    cut = (1 - level) / 2
    return Interval(_mean(clusters), _at(means, cut), _at(means, 1 - cut), level, len(clusters))


def _mean(clusters: Sequence[tuple[float, int]]) -> float:
    return math.fsum(total for total, _ in clusters) / sum(n for _, n in clusters)


def _at(ordered: Sequence[float], share: float) -> float:
    """The value at a share of an ordered list, between neighbours by their distance."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def standard_error(share: float, number: int) -> float:
    """Binomial standard error of a share, `sqrt(p (1 - p) / n)`: 0.017 for 0.82 of 500."""
    return math.sqrt(share * (1 - share) / number) if number else math.nan


def sign_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Probability of a difference as one-sided as this between two policies on the same questions, if there were none.

    Exact, two-sided; questions on which both are equal do not count, and without others it is 1.

    Args:
        first: Figures of one policy, by question.
        second: Figures of the other, in the same order.

    Raises:
        ConfigError: They differ in number.
    """
    _check_pairs(first, second)
    wins = sum(a > b for a, b in zip(first, second, strict=True))
    losses = sum(a < b for a, b in zip(first, second, strict=True))
    n, least = wins + losses, min(wins, losses)
    tail = sum(math.comb(n, k) for k in range(least + 1))
    return min(1.0, float(2 * tail / 2**n))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judges agree.

    Attributes:
        first: One judge.
        second: The other.
        number: Verdicts that both gave.
        share: Share on which they agree, 0 to 1.
        kappa: Cohen's kappa: agreement beyond chance, 1 for perfect, 0 for chance; None where chance alone makes them
            agree, as when both say the same everywhere.
    """

    first: str
    second: str
    number: int
    share: float
    kappa: float | None


def agreement(first: str, second: str, verdicts: Sequence[tuple[bool, bool]]) -> Agreement:
    """Agreement on pairs of verdicts: `kappa = (p_o - p_e) / (1 - p_e)`, from observed and from chance agreement.

    Args:
        first: Name of one judge.
        second: Name of the other.
        verdicts: What each said, the first one's first.
    """
    n = len(verdicts)
    if not n:
        return Agreement(first, second, 0, math.nan, None)
    observed = sum(a == b for a, b in verdicts) / n
    one, other = Counter(a for a, _ in verdicts), Counter(b for _, b in verdicts)
    chance = sum(one[value] * other[value] for value in (True, False)) / n**2
    return Agreement(first, second, n, observed, (observed - chance) / (1 - chance) if chance < 1 else None)


def _check_pairs(first: Sequence[float], second: Sequence[float]) -> None:
    if len(first) != len(second):
        raise ConfigError(
            f"{len(first)} figures can't be paired with {len(second)}.", "Give both for the same questions, in order."
        )
