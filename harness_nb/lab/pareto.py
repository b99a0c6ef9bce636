"""Pareto fronts: what no other beats in two figures at once, such as cost against survival."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import Metric
from harness_nb.memory.results import Displayed

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.frames.charts import ParetoChart


@dataclass(frozen=True, slots=True, repr=False)
class Front(Displayed):
    """Points by two figures, and which of them no other beats.

    Attributes:
        x: Name of the figure to the right.
        y: Name of the figure upwards.
        better: Which direction of each is better, by name.
        by: Names of what tells points apart.
        points: A mapping for each point in the order of x: what tells it apart, both figures, and `is_on_front`.
    """

    x: str
    y: str
    better: Mapping[str, str]
    by: tuple[str, ...]
    points: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        return f"Front({self.x!r}, {self.y!r}, {len(self.best)} of {len(self.points)} points)"

    def __str__(self) -> str:
        return str(self.df[self.df["is_on_front"]].drop(columns="is_on_front").to_string(index=False))

    def __len__(self) -> int:
        return len(self.best)

    @property
    def best(self) -> tuple[dict[str, Any], ...]:
        """The points on the front."""
        return tuple(point for point in self.points if point["is_on_front"])

    @property
    def df(self) -> DataFrame:
        """One row a point."""
        from harness_nb.frames import pareto_frame

        return pareto_frame(self.points, by=self.by, x=self.x, y=self.y)

    @property
    def chart(self) -> ParetoChart:
        """All points with the front among them, as a chart that stays as a picture."""
        from harness_nb.frames import ParetoChart

        return ParetoChart(self.df, self.x, self.y, colour="policy" if "policy" in self.by else None)


def front(
    records: Iterable[Mapping[str, Any]],
    x: str,
    y: str,
    *,
    measured: Sequence[Metric],
    by: Sequence[str],
    better: Mapping[str, str] | None = None,
) -> Front:
    """The front of some records in two metrics.

    Records of the same policy and settings are one point, at the means of their figures; what lacks one of the figures in a
    record is no point.

    Args:
        records: A mapping each.
        x: Name of a metric.
        y: Name of another.
        measured: The metrics that the records hold.
        by: Keys that tell points apart; one that a record lacks is None.
        better: For a metric that does not say it, whether `lower` or `higher` is better.

    Raises:
        ConfigError: There is no such metric, both are the same, or nobody says which direction of one is better.
    """
    if x == y:
        raise ConfigError(f"x and y are both {x!r}.", "Name two metrics.", subject=y)
    directions = {name: _direction(name, measured, better or {}) for name in (x, y)}
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(repr([record.get(name) for name in by]), []).append(record)
    points = [point for group in groups.values() if (point := _point(group, by, (x, y))) is not None]
    signs = {name: 1 if directions[name] == "lower" else -1 for name in (x, y)}
    marked = unbeaten([(signs[x] * point[x], signs[y] * point[y]) for point in points])
    found = [point | {"is_on_front": is_on} for point, is_on in zip(points, marked, strict=True)]
    return Front(x, y, directions, tuple(by), tuple(sorted(found, key=lambda one: (one[x], one[y]))))


def unbeaten(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each point whether no other is at most as large in both figures and smaller in one; less is better in both."""
    best = math.inf
    found = [False] * len(points)
    order = sorted(range(len(points)), key=points.__getitem__)
    for at in order:
        x, y = points[at]
        if y < best:
            best, best_x = y, x
            found[at] = True
        elif y == best and x == best_x:  # an equal point
            found[at] = True
    return found


def _point(group: Sequence[Mapping[str, Any]], by: Sequence[str], names: tuple[str, str]) -> dict[str, Any] | None:
    if any(record.get(name) is None for record in group for name in names):
        return None
    means = {name: math.fsum(record[name] for record in group) / len(group) for name in names}
    return {name: group[0].get(name) for name in by} | means


def _direction(name: str, measured: Sequence[Metric], better: Mapping[str, str]) -> str:
    metric = next((one for one in measured if one.name == name), None)
    if metric is None:
        raise ConfigError(
            f"There is no metric {name!r} here.", f"Use one of {', '.join(one.name for one in measured)}.", subject=name
        )
    said = better.get(name, metric.better)
    if said not in ("lower", "higher"):
        raise ConfigError(
            f"Nobody says which direction of {name!r} is better.",
            f"Say it: better={{{name!r}: 'lower'}} or 'higher'.",
            subject=name,
        )
    return said
