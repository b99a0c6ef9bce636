"""The shapes of the strip: a block a message, width by tokens. What goes is faded in place; no words inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness_nb.render.cutoff import CutoffModel, StripBlock
from harness_nb.render.theme import DANGER, NEUTRAL

STRIP_HEIGHT = 46
BAR_HEIGHT = 12
MAX_SEGMENTS = 180
"""Most segments that are drawn; more would be narrower than a few pixels. Small neighbours are drawn as one."""

FADED = 0.28
_UNITS = 1_000
_TOP, _THICK, _MARKS, _GAP = 6, 28, 37, 0.7


class Segment(NamedTuple):
    """One or several blocks drawn as one, in thousandths of the width."""

    start: float
    width: float
    colour: str
    leaves: bool
    is_changed: bool
    is_pinned: bool


def segments(blocks: Sequence[StripBlock], most: int = MAX_SEGMENTS) -> list[Segment]:
    """What is drawn; each segment has colour and fate of the greatest part of what it stands for."""
    total = sum(block.tokens for block in blocks)
    if not total:
        return []
    least = total / most if len(blocks) > most else 0
    found: list[Segment] = []
    group: list[StripBlock] = []
    start = size = 0
    for block in blocks:
        group.append(block)
        size += block.tokens
        if size >= least:
            found.append(_segment(group, start, size, total))
            start, size, group = start + size, 0, []
    if group:
        found.append(_segment(group, start, size, total))
    return found


def _segment(group: Sequence[StripBlock], start: int, size: int, total: int) -> Segment:
    leaves = 2 * sum(block.tokens for block in group if block.leaves) > size or all(block.leaves for block in group)
    alike = [block for block in group if block.leaves == leaves]
    by_colour: dict[str, int] = {}
    for block in alike or group:
        by_colour[block.colour] = by_colour.get(block.colour, 0) + block.tokens
    return Segment(
        _UNITS * start / total,
        _UNITS * size / total,
        max(by_colour, key=lambda colour: by_colour[colour]),
        leaves,
        any(block.fate == "changed" for block in group),
        any(block.is_pinned for block in group),
    )


def strip_svg(model: CutoffModel, selected: int | None = None) -> str:
    """The strip.

    Args:
        model: What is shown.
        selected: Position of the block that is being read, or None.
    """
    drawn = segments(model.blocks)
    groups: dict[tuple[str, bool], list[Segment]] = {}
    for one in drawn:
        groups.setdefault((one.colour, one.leaves), []).append(one)
    shapes = [_path(ones, colour, FADED if leaves else 1) for (colour, leaves), ones in groups.items()]
    shapes += [_path([one for one in drawn if one.is_changed], DANGER, 1, _MARKS, 4)]
    shapes += [_pin(one) for one in drawn if one.is_pinned][:40]
    places = model.places
    if model.cutoff is not None and model.blocks:
        shapes += _cut(places, model.cutoff.index, model.cutoff.wanted)
    if selected is not None and 0 <= selected < len(model.blocks):
        shapes.append(_frame(_UNITS * places[selected], _UNITS * (places[selected + 1] - places[selected])))
    return _svg(STRIP_HEIGHT, "".join(shapes))


def _path(ones: Iterable[Segment], colour: str, opacity: float, top: int = _TOP, thick: int = _THICK) -> str:
    """Boxes of one colour as a single path."""
    boxes = []
    for one in ones:
        width = max(0.35, one.width - (_GAP if one.width > 2.5 * _GAP else 0))
        boxes.append(f"M{one.start:.1f} {top}h{width:.1f}v{thick}h-{width:.1f}z")
    if not boxes:
        return ""
    faded = f' opacity="{opacity}"' if opacity < 1 else ""
    return f'<path d="{"".join(boxes)}" fill="{colour}"{faded}/>'


def _pin(one: Segment) -> str:
    at = min(_UNITS - 4.0, max(4.0, one.start + one.width / 2))
    return f'<path d="M{at:.1f} {_TOP}l-4 -6h8z" fill="{DANGER}"/>'


def _cut(places: Sequence[float], index: int, wanted: int) -> list[str]:
    """The cut as a line, the wanted place as a fine dashed one, and what goes in a dashed frame."""
    last = len(places) - 1
    at, wished = (_UNITS * places[min(max(one, 0), last)] for one in (index, wanted))
    frame = (
        f'<rect x="1" y="3" width="{max(0.0, at - 2):.1f}" height="34" fill="none" stroke="{NEUTRAL}" '
        'stroke-dasharray="3 3" vector-effect="non-scaling-stroke"/>'
    )
    wish = [_line(wished, NEUTRAL, 1, "3 3")] if wanted != index else []
    return [frame, *wish, _line(at, DANGER, 2.5, "")]


def _line(at: float, colour: str, width: float, dashes: str) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    at = min(_UNITS - 0.5, max(0.5, at))
    return (
        f'<path d="M{at:.1f} 0V{STRIP_HEIGHT - 2}" stroke="{colour}" stroke-width="{width}"{dashed} '
        'vector-effect="non-scaling-stroke"/>'
    )


def _frame(start: float, width: float) -> str:
    return (
        f'<rect x="{start:.1f}" y="{_TOP - 3}" width="{max(3.0, width):.1f}" height="{_THICK + 6}" fill="none" '
        f'stroke="{NEUTRAL}" stroke-width="2" vector-effect="non-scaling-stroke"/>'
    )


def bar_svg(share: float, colour: str) -> str:
    """A bar over a part of the width, 0 to 1."""
    width = _UNITS * min(1.0, max(0.002, share))
    return _svg(
        BAR_HEIGHT,
        f'<path d="M0 0h{_UNITS}v{BAR_HEIGHT}H0z" fill="{NEUTRAL}" opacity=".16"/>'
        f'<path d="M0 0h{width:.1f}v{BAR_HEIGHT}H0z" fill="{colour}"/>',
    )


def _svg(height: int, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{height}" viewBox="0 0 {_UNITS} {height}" '
        f'preserveAspectRatio="none">{inner}</svg>'
    )
