"""What a sweep tries: every combination of some values, or a number of them drawn at random."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_nb.core.config import whole
from harness_nb.errors import ConfigError

Grid = Mapping[str, Mapping[str, Any]]
"""For each policy by name, its settings: a list (or range) of values to try, a `Between`, or one value."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings of one policy at one window.

    Attributes:
        policy: Name of a preset, or of a policy that was registered.
        settings: Its settings by name.
        window: Context window in tokens, or None for that of the recorded model.
    """

    policy: str
    settings: Mapping[str, Any]
    window: int | None


@dataclass(frozen=True, slots=True)
class Between:
    """Any value between two, for a search that draws at random.

    Attributes:
        low: Least value.
        high: Largest value. Where both are whole numbers, so is what is drawn.
        by_ratio: Whether doubling counts the same everywhere, as for sizes that span orders of magnitude (default False).

    Raises:
        ConfigError: The bounds are no two ascending numbers, or ratios start at 0 or below.
    """

    low: float
    high: float
    by_ratio: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.by_ratio and self.low <= 0):
            raise ConfigError(
                f"Between({self.low!r}, {self.high!r}) is no range.",
                "Give a smaller and a larger number; by_ratio needs both above 0.",
                subject="Between",
            )

    def drawn(self, source: random.Random) -> float:
        """One value."""
        if self.by_ratio:
            value = math.exp(source.uniform(math.log(self.low), math.log(self.high)))
        else:
            value = source.uniform(self.low, self.high)
        is_whole = isinstance(self.low, int) and isinstance(self.high, int)
        return min(max(round(value), self.low), self.high) if is_whole else value


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSearch:
    """A number of trials drawn at random, the same for the same seed.

    Attributes:
        trials: Most trials; fewer where there are no more different ones (default 100).
        seed: Of the draw (default 0).

    Raises:
        ConfigError: There would be no trial.
    """

    trials: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self, "trials", least=1)

    def drawn(self, grid: Grid, windows: Sequence[int | None]) -> list[Trial]:
        """The trials, each once, in the order drawn; every policy of the grid is as likely."""
        source = random.Random(self.seed)  # noqa: S311 - a draw of settings, nothing secret
        found: dict[str, Trial] = {}
        for _ in range(self.trials * _DRAWS_PER_TRIAL):
            policy = source.choice(list(grid))
            settings = {name: _drawn(value, source) for name, value in grid[policy].items()}
            trial = Trial(policy, settings, source.choice(list(windows)))
            found.setdefault(repr(trial), trial)
            if len(found) == self.trials:
                break
        return list(found.values())


_DRAWS_PER_TRIAL = 20
"""Draws for each trial that is wanted; where that many find nothing new, all there is was probably drawn."""


def every(grid: Grid, windows: Sequence[int | None]) -> list[Trial]:
    """Every combination, policy by policy, the last setting changing fastest.

    Raises:
        ConfigError: A setting is a `Between`, of which there are too many values to try all.
    """
    return list(_every(grid, windows))


def _every(grid: Grid, windows: Sequence[int | None]) -> Iterator[Trial]:
    for policy, settings in grid.items():
        choices = [_choices(name, value) for name, value in settings.items()]
        for window, values in itertools.product(windows, itertools.product(*choices)):
            yield Trial(policy, dict(zip(settings, values, strict=True)), window)


def _choices(name: str, value: Any) -> list[Any]:
    if isinstance(value, Between):
        raise ConfigError(
            f"{name}={value!r} can't be tried in full.",
            f"Give a list of values, or draw some: search=RandomSearch(trials={RandomSearch().trials}).",
            subject=name,
        )
    return list(value) if isinstance(value, list | range) else [value]


def _drawn(value: Any, source: random.Random) -> Any:
    if isinstance(value, Between):
        return value.drawn(source)
    return source.choice(list(value)) if isinstance(value, list | range) else value
