"""View model and drawing of a heat map: what two settings of a policy lead to, as a table whose shades say it at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness_nb.render.card import Drawing
from harness_nb.render.html import Markup, join, tag
from harness_nb.render.text import cell, money, percent, short, text_table

Unit = Literal["tokens", "count", "share", "dollars"]

SHADES = 7
"""Steps of colour from the least to the most."""

HERE = "◆"
"""Marks the cell of the settings in force."""

STYLES = """
.hnb.hnb table.hnb-heat{border-collapse:separate;border-spacing:1px}
.hnb.hnb table.hnb-heat th,.hnb.hnb table.hnb-heat td{padding:4px 7px;text-align:right;white-space:nowrap;border:0}
.hnb.hnb table.hnb-heat tbody tr+tr td{border:0}
.hnb.hnb table.hnb-heat td{border-radius:2px}
.hnb.hnb table.hnb-heat td.hnb-here{font-weight:bold;outline:2px solid var(--hnb-text);outline-offset:-2px}
.hnb.hnb table.hnb-heat td:focus-visible{outline:3px solid var(--hnb-accent)}
.hnb-widget .hnb.hnb table.hnb-heat td{cursor:pointer}
""" + "".join(
    f".hnb.hnb table.hnb-heat td.hnb-h{step}{{background:rgba(64,132,219,{0.06 + 0.07 * step:.2f})}}"
    for step in range(SHADES)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatModel:
    """A figure under all combinations of two settings.

    Attributes:
        figure: Name of the figure.
        unit: What it counts.
        down: Name of the setting that changes from row to row.
        across: Name of the setting that changes from column to column.
        downs: Its values, and so the rows.
        acrosses: The values of the other, and so the columns.
        values: The figure by row and column; None where the settings were refused or the figure is not known.
        here: Row and column of the settings in force, or None where they are not among these.
    """

    figure: str
    unit: Unit
    down: str
    across: str
    downs: tuple[object, ...]
    acrosses: tuple[object, ...]
    values: tuple[tuple[float | None, ...], ...]
    here: tuple[int, int] | None = None

    def words(self, row: int, column: int) -> str:
        """The figure of a cell."""
        return figure_words(self.values[row][column], self.unit)

    def settings(self, row: int, column: int) -> str:
        """The settings of a cell, as they stand in a call."""
        return f"{self.down}={self.downs[row]}, {self.across}={self.acrosses[column]}"

    def places(self) -> list[tuple[int, int]]:
        """Row and column of every cell whose figure is known, from the least to the most."""
        known = [
            (value, at, n) for at, row in enumerate(self.values) for n, value in enumerate(row) if value is not None
        ]
        return [(at, n) for _, at, n in sorted(known)]

    def shade(self, row: int, column: int) -> int | None:
        """The step of colour of a cell, 0 for the least; None where the figure is not known."""
        known = [value for line in self.values for value in line if value is not None]
        value = self.values[row][column]
        if value is None:
            return None
        least, span = min(known), max(known) - min(known)
        return round((value - least) / span * (SHADES - 1)) if span else 0

    @property
    def line(self) -> str:
        """The state in words: least and most, and where."""
        places = self.places()
        if not places:
            return f"{self.figure}: known for none of these settings"
        ends = [
            f"{name} {self.words(*at)} at {self.settings(*at)}"
            for name, at in (("least", places[0]), ("most", places[-1]))
        ]
        same = self.words(*places[0]) == self.words(*places[-1])
        return (
            f"{self.figure}: {self.words(*places[0])} whatever these settings"
            if same
            else f"{self.figure}: {'; '.join(ends)}"
        )


def figure_words(value: float | None, unit: Unit) -> str:
    """A figure in words, a dash where it is not known."""
    if value is None:
        return "–"
    if unit == "share":
        return percent(value)
    if unit == "dollars":
        return money(value)
    return short(round(value)) if unit == "tokens" else f"{value:,.0f}"


def heat_drawing(model: HeatModel, number: int = 0, *, can_choose: bool = False) -> Drawing:
    """The heat map as a table.

    Args:
        model: What is shown.
        number: Number of the column of a tuner that it belongs to.
        can_choose: Whether its cells can be chosen by pointer and keys.
    """
    axes = f"rows: {model.down}, columns: {model.across}"
    caption = join(tag("div", model.line, class_="hnb-caption"), tag("div", axes, class_="hnb-muted"))
    head = tag("tr", tag("th", ""), *(tag("th", cell(value), scope="col") for value in model.acrosses))
    rows = [_row(model, row, can_choose) for row in range(len(model.downs))]
    table = tag(
        "table", tag("thead", head), tag("tbody", *rows), class_="hnb-heat", data_column=number,
        role="grid" if can_choose else None, aria_label=f"{model.figure} by {model.down} and {model.across}",
    )  # fmt: skip
    return Drawing(join(caption, tag("div", table, class_="hnb-wide")), f"{model.line}\n{axes}\n{_text(model)}")


def _row(model: HeatModel, row: int, can_choose: bool) -> Markup:
    first = model.here or (0, 0)
    cells = [
        tag(
            "td", _words(model, row, column), class_=_class(model, row, column), role="gridcell" if can_choose else None,
            tabindex=(0 if (row, column) == first else -1) if can_choose else None,
            aria_selected="true" if (row, column) == model.here else None,
        )
        for column in range(len(model.acrosses))
    ]  # fmt: skip
    return tag("tr", tag("th", cell(model.downs[row]), scope="row"), *cells)


def _words(model: HeatModel, row: int, column: int) -> str:
    mark = f"{HERE} " if (row, column) == model.here else ""
    return f"{mark}{model.words(row, column)}"


def _class(model: HeatModel, row: int, column: int) -> str | None:
    shade = model.shade(row, column)
    names = [f"hnb-h{shade}"] if shade is not None else []
    names += ["hnb-here"] if (row, column) == model.here else []
    return " ".join(names) or None


def _text(model: HeatModel) -> str:
    rows: Sequence[Sequence[object]] = [
        [cell(model.downs[row]), *(_words(model, row, column) for column in range(len(model.acrosses)))]
        for row in range(len(model.downs))
    ]
    head = ("", *(cell(value) for value in model.acrosses))
    return text_table(head, rows, [True] * len(head))
