"""Draws the pressure: shapes as a picture, words as text around it, and the figures as a table."""

from __future__ import annotations

from harness_nb.render.card import TO_LEFT, Block, Card, Drawing, Table
from harness_nb.render.html import Markup, join, picture, tag
from harness_nb.render.pressure import CoursePoint, PressureModel, Threshold
from harness_nb.render.pressure_svg import BAR_HEIGHT, COURSE_HEIGHT, bar_svg, course_svg
from harness_nb.render.scale import PLAIN_WIDTH, SCALE_STYLES, label, scale, swatch, width_of
from harness_nb.render.text import percent, short

_TEXT_CELLS = 60
"""Width in characters of the bar drawn in text."""

STYLES = """
.hnb .hnb-legend tbody{display:flex;flex-wrap:wrap;gap:2px 18px}
.hnb .hnb-legend thead{display:none}
.hnb.hnb .hnb-legend table tr td{border:0}
.hnb .hnb-legend tr{display:inline-flex;gap:6px;align-items:baseline}
.hnb.hnb .hnb-legend table td{padding:1px 0}
.hnb .hnb-legend td+td+td{color:var(--hnb-muted)}
@container (max-width:520px){.hnb .hnb-legend td+td+td{display:none}}
"""


def pressure_card(model: PressureModel) -> Card:
    """The display as a card."""
    return Card(model.title, model.line, tuple(_blocks(model)), (_provenance(model),), (SCALE_STYLES, STYLES))


def _blocks(model: PressureModel) -> list[Block]:
    blocks: list[Block] = [Drawing(_bar(model), text_bar(model)), Drawing(_legend(model), _legend_text(model))]
    if len(model.course) > 1:
        blocks.append(course_drawing(model))
    blocks.append(threshold_table(model))
    return [block for block in blocks if not (isinstance(block, Table) and not block.rows)]


# The bar


def _bar(model: PressureModel) -> Markup:
    return join(
        scale(*_mark_labels(model)),
        picture(bar_svg(model), _bar_words(model), width=PLAIN_WIDTH, height=BAR_HEIGHT),
        scale(_now_label(model)),
    )


def _mark_labels(model: PressureModel) -> list[Markup]:
    """Labels of thresholds, each beside its mark; one that would cover another is left to the table below."""
    places = {one.at: one for one in reversed(model.thresholds) if one.unit == "tokens" and 0 < one.at <= model.extent}
    words = {at: _mark_words(one, at / model.extent, is_first=at == min(places)) for at, one in places.items()}
    if model.tokens > model.window:
        words[model.window] = "window"
    spots = sorted((100 * at / model.extent, text) for at, text in words.items())
    ends = [*(at for at, _ in spots[1:]), 99.0][: len(spots)]
    labels, free_from = [], 0.0
    for (at, text), end in zip(spots, ends, strict=True):
        width = width_of(text)
        right = 100.0 if end == 99.0 else at
        if free_from <= at and at + width <= end:
            labels.append(label(text, at))
            free_from = at + width
        elif right - width >= free_from:
            labels.append(label(text, right, to_left=True))
            free_from = right
    return labels


def _mark_words(one: Threshold, share: float, *, is_first: bool) -> str:
    return f"{one.number} · {share * 100:.0f}" if one.number and not is_first else f"{one.name} · {percent(share, 0)}"


def _now_label(model: PressureModel) -> Markup:
    at = 100 * model.tokens / model.extent
    words = f"now {percent(model.share)}"
    return label(words, at, to_left=at > 50, name="hnb-now")


def _bar_words(model: PressureModel) -> str:
    parts = ", ".join(f"{part.name} {percent(part.tokens / model.window)}" for part in model.parts)
    return f"{percent(model.share)} of the window in use: {parts or 'nothing'}."


def text_bar(model: PressureModel) -> str:
    """The bar in text: `#` used, `/` reserved, `.` free, `|` a threshold."""
    cells = ["."] * _TEXT_CELLS

    def at(tokens: int) -> int:
        return min(_TEXT_CELLS, round(_TEXT_CELLS * tokens / model.extent))

    if model.reserved_shown:
        start, stop = at(model.window - model.reserved_shown), at(model.window)
        cells[start:stop] = "/" * (stop - start)
    cells[: at(model.tokens)] = "#" * at(model.tokens)
    for one in model.thresholds:
        if one.unit == "tokens" and 0 < one.at < model.extent:
            cells[min(at(one.at), _TEXT_CELLS - 1)] = "|"
    return f"[{''.join(cells)}] {percent(model.share)}"


# Legend and tables


def legend_rows(model: PressureModel) -> list[tuple[str, int, str]]:
    """Name, tokens and share of the window of each part, of what is free and of what is reserved."""
    rows = [(part.name, part.tokens) for part in model.parts]
    rows += [("free", model.free)]
    rows += [("reserved for the reply", model.reserved_shown)] if model.reserved_shown else []
    return [(name, tokens, percent(tokens / model.window)) for name, tokens in rows]


def _legend(model: PressureModel) -> Markup:
    colours = {part.name: part.colour for part in model.parts}
    head = tag("tr", tag("th", "what fills the window"), tag("th", "tokens"), tag("th", "of the window"))
    rows = [
        tag(
            "tr",
            tag("td", swatch(name, colours.get(name)), name, style=TO_LEFT),
            tag("td", tag("b", f"{tokens:,}")),
            tag("td", share),
        )
        for name, tokens, share in legend_rows(model)
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="hnb-legend")


def _legend_text(model: PressureModel) -> str:
    rows = legend_rows(model)
    width, digits = max(len(row[0]) for row in rows), max(len(f"{row[1]:,}") for row in rows)
    return "\n".join(f"{name.ljust(width)}  {tokens:>{digits},} tokens  {share}" for name, tokens, share in rows)


def threshold_table(model: PressureModel, caption: str = "Thresholds") -> Table:
    """Where the policy acts and how far it is; folded below its caption, open without one."""
    rows = [
        (
            one.name,
            one.at,
            one.unit,
            one.value,
            "reached" if one.is_reached else f"in {one.at - one.value:,}",
            one.action,
        )
        for one in model.thresholds
    ]
    has_actions = any(row[-1] for row in rows)
    head = ("threshold", "at", "unit", "now", "state", "action")
    return Table(
        head if has_actions else head[:-1],
        tuple(rows if has_actions else [row[:-1] for row in rows]),
        total=len(rows),
        caption=caption,
        is_open=not caption,
    )


def _provenance(model: PressureModel) -> str:
    """Where the window comes from, and what the parts are."""
    source = f" (from: {model.window_source})" if model.window_source else ""
    scaled = ", scaled to the total" if model.is_scaled else ""
    return f"Window {model.window:,} tokens{source}; the parts are estimates{scaled}."


# The course


def course_drawing(model: PressureModel) -> Drawing:
    """The course over the session, with its scale; it needs two points or more."""
    return Drawing(_course(model), _course_words(model))


def _course(model: PressureModel) -> Markup:
    first, last = model.course[0], model.course[-1]
    return join(
        tag("div", "Course over the session", class_="hnb-caption"),
        scale(*_course_labels(model.course)),
        picture(course_svg(model), _course_words(model), width=PLAIN_WIDTH, height=COURSE_HEIGHT),
        scale(label(f"turn {first.turn}", 0, name=""), label(f"turn {last.turn}", 100, to_left=True, name="")),
    )


def _course_labels(course: tuple[CoursePoint, ...]) -> list[Markup]:
    """Labels of the marks, as many as stand clear of one another."""
    labels, free_from = [], 0.0
    for at, point in enumerate(course):
        if not point.mark:
            continue
        words = f"{point.mark} at turn {point.turn}"
        place, width = 100 * at / (len(course) - 1), width_of(words)
        to_left = place + width > 100
        if (place - width if to_left else place) >= free_from:
            labels.append(label(words, place, to_left=to_left))
            free_from = place + width
    return labels


def _course_words(model: PressureModel) -> str:
    first, last = model.course[0], model.course[-1]
    peak = max(model.course, key=lambda point: point.tokens)
    marked = [f"{point.mark} at turn {point.turn}" for point in model.course if point.mark]
    words = (
        f"Course from turn {first.turn} ({short(first.tokens)}) to turn {last.turn} ({short(last.tokens)}), "
        f"highest {short(peak.tokens)} at turn {peak.turn}"
    )
    shown = ", ".join(marked[:8]) + (f" and {len(marked) - 8} more" if len(marked) > 8 else "")
    return f"{words}{'; ' + shown if marked else ''}."


def pressure_words(model: PressureModel) -> str:
    """The state in the fewest words, for a repr and for the foot of a turn."""
    tier = f" · tier {model.tier}" if any(one.number for one in model.thresholds) else ""
    return f"{percent(model.share, 0)}{tier}"
