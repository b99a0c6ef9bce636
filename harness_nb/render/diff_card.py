"""The card of two reports of scores beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.text import count, percent

_HEAD = ("", "transcript", "policy", "window", "metric", "old", "new", "change", "share", "unit")


def diff_card(moved: Sequence[Any], counts: Mapping[str, int], versions: tuple[str, str]) -> Card:
    """Figures that moved, the gravest first.

    Args:
        moved: Changes as `lab.diff.Change` has them.
        counts: How many figures have each verdict.
        versions: Versions of this package that made the old and the new report.
    """
    said = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    made = f"made by harness_nb {versions[0]} and {versions[1]}" if len(set(versions)) > 1 else ""
    rows = [_row(one) for one in moved]
    table = Table.of(_HEAD, rows, most=len(rows), noun="figure")
    line = " · ".join(filter(None, (count(sum(counts.values()), "figure") + f": {said}", made)))
    return Card("Scores, old and new", line, (table,) if rows else ())


def _row(one: Any) -> tuple[object, ...]:
    metric = f"{one.metric} ({one.better} is better)" if one.better else one.metric
    share = None if one.share is None else f"{'+' if one.share > 0 else ''}{percent(one.share)}"
    figures = (figure(one.old), figure(one.new), figure(one.change))
    return (one.verdict, one.transcript, one.policy, one.window, metric, *figures, share, one.unit)


def figure(value: float | None) -> str | None:
    """A figure with the digits that say something."""
    if value is None:
        return None
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1_000 else f"{value:,.4g}"
