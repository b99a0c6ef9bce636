"""Sizes along a conversation, a lane for each policy: all lanes have the same axes, so that they can be read together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.render.card import Drawing
from harness_nb.render.html import Markup, picture, tag
from harness_nb.render.text import count, short
from harness_nb.render.theme import DANGER, NEUTRAL

LANE_HEIGHT = 40
"""Height of a lane in a notebook, in pixels."""
_AREA, _LINE = "#56b4e9", "#2f86d6"
_UNITS, _TALL, _FOOT = 1_000, 100, 14
_TEXT_COLUMNS = 48
_BARS = "▁▂▃▄▅▆▇█"
_NONE = "·"

STYLE = """
.hnb .hnb-lanes{display:grid;grid-template-columns:minmax(90px,max-content) 1fr minmax(110px,max-content);gap:4px 14px;
align-items:center;margin:6px 0}
.hnb .hnb-lanes .hnb-lane{border-bottom:1px solid var(--hnb-line)}
@container (max-width:560px){.hnb .hnb-lanes{grid-template-columns:1fr}}
.hnb .hnb-axis{display:flex;justify-content:space-between;color:var(--hnb-muted);font-size:12px}
"""


@dataclass(frozen=True, slots=True)
class Lane:
    """One policy along a conversation.

    Attributes:
        name: Name of the policy.
        points: Messages said and size in tokens, in order.
        marks: Messages said where the list was replaced.
        window: Context window in tokens.
    """

    name: str
    points: Sequence[tuple[int, int]]
    marks: Sequence[int]
    window: int

    @property
    def peak(self) -> int:
        """Largest size."""
        return max((size for _, size in self.points), default=0)

    @property
    def words(self) -> str:
        """What the lane shows, in short."""
        return f"peak {short(self.peak)}, {count(len(self.marks), 'compaction')}"


def lanes_drawing(lanes: Sequence[Lane], length: int, *, columns: int = 240, height: int = LANE_HEIGHT) -> Drawing:
    """All lanes one below the other.

    Args:
        lanes: The lanes.
        length: Messages of the conversation.
        columns: Points along a lane at most; where there are more, the largest of neighbours stands.
        height: Height of a lane in pixels.
    """
    top = max((lane.peak for lane in lanes), default=0)
    cells: list[Markup] = []
    for lane in lanes:
        alt = f"{lane.name}: {lane.words}"
        svg = _svg(lane, length, top, columns)
        drawn = tag("div", picture(svg, alt, width=600, height=height), class_="hnb-lane")
        cells += [tag("div", lane.name), drawn, tag("div", lane.words, class_="hnb-muted")]
    axis = tag("div", tag("span", "message 1"), tag("span", f"message {length:,}"), class_="hnb-axis")
    grid = tag("div", *cells, tag("div"), axis, tag("div"), class_="hnb-lanes")
    note = tag(
        "div",
        f"Size of the model input along the conversation, all lanes from 0 to {short(top)} tokens; "
        "marks below: the list was replaced; broken line: the window.",
        class_="hnb-note",
    )
    return Drawing(tag("div", grid, note), _text(lanes, length, top))


def largest(points: Sequence[tuple[int, int]], length: int, columns: int) -> list[int]:
    """The largest size in each of some equal parts of a conversation; a part without a point has that of the one before."""
    found = [-1] * min(columns, max(1, length))
    for index, size in points:
        at = min(len(found) - 1, max(0, index - 1) * len(found) // max(1, length))
        found[at] = max(found[at], size)
    for at in range(len(found)):
        if found[at] < 0:
            found[at] = found[at - 1] if at else 0
    return found


def bars(shares: Sequence[float]) -> str:
    """Shares from 0 to 1 as a row of bars, a dot for none."""
    return "".join(_NONE if share <= 0 else _BARS[round(min(share, 1) * (len(_BARS) - 1))] for share in shares)


def _svg(lane: Lane, length: int, top: int, columns: int) -> str:
    """An area below a line, ticks below it for marks; no words, as a picture can't follow the theme."""
    sizes = largest(lane.points, length, columns)
    step = _UNITS / len(sizes)
    high = _TALL - _FOOT
    tops = [round(high - high * size / top) if top else high for size in sizes]
    path = " ".join(f"{round(at * step)} {y} {round((at + 1) * step)} {y}" for at, y in enumerate(tops))
    ticks = "".join(
        f"M{round(_UNITS * (mark - 0.5) / max(1, length))} {_TALL - _FOOT + 3}V{_TALL}"
        for mark in dict.fromkeys(lane.marks)
    )
    fixed = 'fill="none" vector-effect="non-scaling-stroke"'
    shapes = [
        f'<path d="M0 {high}L{path} {_UNITS} {high}Z" fill="{_AREA}" fill-opacity="0.4"/>',
        f'<path d="M{path}" stroke="{_LINE}" stroke-width="1.5" {fixed}/>',
        f'<path d="{ticks}" stroke="{DANGER}" stroke-width="1.5" {fixed}/>' if ticks else "",
    ]
    if 0 < lane.window <= top:
        y = round(high - high * lane.window / top)
        shapes.append(f'<path d="M0 {y}H{_UNITS}" stroke="{NEUTRAL}" stroke-dasharray="4 4" {fixed}/>')
    size = f'viewBox="0 0 {_UNITS} {_TALL}" preserveAspectRatio="none" width="100%" height="100%"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(shapes)}</svg>'


def _text(lanes: Sequence[Lane], length: int, top: int) -> str:
    widest = max((len(lane.name) for lane in lanes), default=0)
    lines = [
        f"{lane.name.ljust(widest)}  {bars([size / top if top else 0 for size in largest(lane.points, length, _TEXT_COLUMNS)])}  {lane.words}"
        for lane in lanes
    ]
    return "\n".join(lines)
