"""View model and card of the tuner: one or several policies over a conversation, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.render.card import Block, Card, Drawing, Pre, Table
from harness_nb.render.cutoff import CutoffModel
from harness_nb.render.cutoff_view import STYLES as STRIP_STYLES
from harness_nb.render.cutoff_view import cut_words, strip, strip_words
from harness_nb.render.heat import STYLES as HEAT_STYLES
from harness_nb.render.heat import HeatModel, heat_drawing
from harness_nb.render.html import join, tag
from harness_nb.render.pressure import PressureModel
from harness_nb.render.pressure_view import course_drawing
from harness_nb.render.scale import SCALE_STYLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What a policy with its settings does to a conversation.

    Attributes:
        name: Name of the policy.
        strip: What the model sees at the end.
        pressure: The pressure at the end, with the course that led there; None while that is being worked out.
        metrics: Names and values, in the order shown; the same names for all.
        code: The settings as code to copy.
        note: What is going on, or empty.
        heat: A figure under combinations of two settings, or None where nothing was swept.
    """

    name: str
    strip: CutoffModel
    pressure: PressureModel | None = None
    metrics: tuple[tuple[str, str], ...] = ()
    code: str = ""
    note: str = ""
    heat: HeatModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TunerModel:
    """All that a tuner shows.

    Attributes:
        title: Of what conversation.
        line: The state in words.
        columns: A policy each.
    """

    title: str
    line: str
    columns: tuple[Tuned, ...]


def tuned_card(column: Tuned, number: int = 0, *, selected: int | None = None, can_drag: bool = False) -> Card:
    """One policy.

    Args:
        column: What is shown.
        number: Its number among several.
        selected: Position of the block that is being read, or None.
        can_drag: Whether the cut has a handle for the pointer.
    """
    blocks: list[Block] = [_strip_block(column, number, selected, can_drag)]
    if column.pressure is not None and len(column.pressure.course) > 1:
        blocks.append(course_drawing(column.pressure))
    if column.code:
        blocks.append(Pre(column.code, caption="These settings in Python"))
    line = " ".join(filter(None, (column.strip.line, column.note)))
    return Card(column.name, line, tuple(blocks), styles=(SCALE_STYLES, STRIP_STYLES))


def _strip_block(column: Tuned, number: int, selected: int | None, can_drag: bool) -> Drawing:
    drawing = strip(column.strip, selected, can_drag=can_drag, column=number)
    return Drawing(drawing, strip_words(column.strip))


def metrics_table(columns: Sequence[Tuned]) -> Table:
    """The figures of all policies, a column each; those that differ are in bold."""
    names = [name for name, _ in columns[0].metrics] if columns else []
    values = [dict(column.metrics) for column in columns]
    rows = [(name, *(one.get(name, "") for one in values)) for name in names]
    return Table.of(("metric", *(_numbered(columns))), rows, noun="metric")


def _numbered(columns: Sequence[Tuned]) -> list[str]:
    """The names of the policies, told apart where they are the same."""
    names = [column.name for column in columns]
    return [f"{name} ({at})" if names.count(name) > 1 else name for at, name in enumerate(names, 1)]


def tuner_card(model: TunerModel) -> Card:
    """All of it, one policy below the other."""
    blocks: list[Block] = []
    for number, column in enumerate(model.columns):
        inner = tuned_card(column, number)
        caption = tag("div", tag("strong", inner.title), " ", inner.line, class_="hnb-caption")
        blocks.append(Drawing(join(caption), f"{inner.title}: {inner.line}"))
        blocks += inner.blocks
        blocks += [heat_drawing(column.heat, number)] if column.heat is not None else []
    if any(column.metrics for column in model.columns):
        blocks.append(metrics_table(model.columns))
    has_heat = any(column.heat is not None for column in model.columns)
    styles = (SCALE_STYLES, STRIP_STYLES, *((HEAT_STYLES,) if has_heat else ()))
    return Card(model.title, model.line, tuple(blocks), styles=styles)


def tuned_words(column: Tuned) -> str:
    """One policy in the fewest words, for a repr."""
    return f"{column.name}: {cut_words(column.strip)}"
