"""Sizes along a conversation, a lane for each policy: all lanes have the same axes, so that they can be read together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.render.card import Drawing
from harness_nb.render.html import picture, tag
from harness_nb.render.text import count, short
from harness_nb.render.theme import DANGER, NEUTRAL

LANE_HEIGHT = 40
"""Height of a lane in a notebook, in pixels."""
_AREA, _LINE = "#56b4e9", "#2f86d6"
_UNITS, _TALL, _HEAD, _FOOT = 1_000, 100, 6, 20
_TEXT_COLUMNS = 48
_BARS = "▁▂▃▄▅▆▇█"
_NONE = "·"

STYLE = """
.hnb .hnb-lanes{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:0 14px;margin:6px 0}
.hnb .hnb-lanes .hnb-lane{line-height:1.25;align-self:center;overflow:hidden}
.hnb .hnb-lanes .hnb-lane span{display:block;font-size:12px}
.hnb .hnb-axis{display:flex;justify-content:space-between;color:var(--hnb-muted);font-size:12px;grid-column:2}
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
    names = [tag("div", one.name, " ", tag("span", one.words, class_="hnb-muted"), class_="hnb-lane") for one in lanes]
    alt = "; ".join(f"{lane.name}: {lane.words}" for lane in lanes)
    drawn = picture(_svg(lanes, length, top, columns), alt, width=600, height=height * max(1, len(lanes)))
    place = tag("div", drawn, style=f"grid-column:2;grid-row:1 / span {max(1, len(lanes))}")
    axis = tag("div", tag("span", "message 1"), tag("span", f"message {length:,}"), class_="hnb-axis")
    rows = f"grid-template-rows:repeat({max(1, len(lanes))},{height}px) auto"
    grid = tag("div", *names, place, axis, class_="hnb-lanes", style=rows)
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


def _svg(lanes: Sequence[Lane], length: int, top: int, columns: int) -> str:
    """All lanes as one picture, without words, as a picture can't follow the theme: an area, and ticks below it for marks."""
    areas, ticks, windows = [], [], []
    for at, lane in enumerate(lanes):
        above, high = at * _TALL + _HEAD, _TALL - _HEAD - _FOOT
        areas.append(_area(largest(lane.points, length, columns), top, above, high))
        places = dict.fromkeys(round(_UNITS * (mark - 0.5) / max(1, length)) // 4 * 4 for mark in lane.marks)
        ticks += [f"M{place} {above + high + 3}v{_FOOT - 5}" for place in places]
        if 0 < lane.window <= top:
            windows.append(f"M0 {above + high - round(high * lane.window / top)}h{_UNITS}")
    size = f'viewBox="0 0 {_UNITS} {_TALL * max(1, len(lanes))}" preserveAspectRatio="none" width="100%" height="100%"'
    thin = 'stroke-width="1.5" vector-effect="non-scaling-stroke"'
    shapes = (
        f'<path d="{"".join(areas)}" fill="{_AREA}" fill-opacity="0.4" stroke="{_LINE}" {thin}/>',
        f'<path d="{"".join(ticks)}" stroke="{DANGER}" {thin}/>',
        f'<path d="{"".join(windows)}" stroke="{NEUTRAL}" stroke-dasharray="4 4" {thin}/>' if windows else "",
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(shapes)}</svg>'


def _area(sizes: Sequence[int], top: int, above: int, high: int) -> str:
    """A path in steps, from its foot to its foot."""
    foot = above + high
    tops = [foot - round(high * size / top) if top else foot for size in sizes]
    wide = _UNITS / len(tops)
    steps = (f"{f'V{y}' if not at or y != tops[at - 1] else ''}H{round((at + 1) * wide)}" for at, y in enumerate(tops))
    return f"M0 {foot}{''.join(steps)}V{foot}"


def _text(lanes: Sequence[Lane], length: int, top: int) -> str:
    widest = max((len(lane.name) for lane in lanes), default=0)
    lines = [
        f"{lane.name.ljust(widest)}  {bars([size / top if top else 0 for size in largest(lane.points, length, _TEXT_COLUMNS)])}  {lane.words}"
        for lane in lanes
    ]
    return "\n".join(lines)
