"""Words beside a drawing: labels at places along its width, and the coloured square of a legend."""

from __future__ import annotations

from harness_nb.render.html import Markup, tag
from harness_nb.render.theme import NEUTRAL

PLAIN_WIDTH = 640
"""Width in pixels of a picture where styles are taken away."""

SCALE_STYLES = """
.hnb .hnb-scale{position:relative;height:18px;font-size:11px;color:var(--hnb-muted);white-space:nowrap}
.hnb .hnb-scale span{position:absolute}
.hnb .hnb-scale .hnb-now{color:var(--hnb-text)}
.hnb .hnb-swatch{border-radius:2px}
@container (max-width:520px){.hnb .hnb-scale .hnb-mark{display:none}}
"""


def scale(*labels: Markup) -> Markup:
    """Labels in a row, each at its place."""
    spaced = [piece for one in labels for piece in (one, " ")]  # seen where the positions are taken away
    return tag("div", *spaced, class_="hnb-scale", style="position:relative;height:18px;font-size:11px")


def label(words: str, at: float, *, to_left: bool = False, name: str = "hnb-mark") -> Markup:
    """Words that begin, or with `to_left` end, at a place.

    Args:
        words: What it says.
        at: The place, in percent of the width.
        to_left: Whether the words stand to the left of it; where there is not room enough, they begin at the left edge.
        name: Its class; `hnb-mark` is left out of narrow cells, `hnb-now` is stronger.
    """
    side = f"left:0;width:{at:.2f}%;text-align:right;box-sizing:border-box" if to_left else f"left:{at:.2f}%"
    gap = "" if at in (0, 100) else ";padding:0 4px"
    return tag("span", words, class_=name, style=f"position:absolute;{side}{gap}")


def width_of(words: str) -> float:
    """Room that a label takes in a cell of usual width, in percent of it."""
    return 0.72 * len(words) + 0.5


def swatch(name: str, colour: str | None) -> Markup:
    """The square of a legend; hatched for what is reserved, empty without a colour."""
    fill = f"background:{colour}" if colour else f"border:1px solid {NEUTRAL};box-sizing:border-box"
    if name.startswith("reserved"):
        fill = f"background:repeating-linear-gradient(45deg,{NEUTRAL} 0 2px,transparent 2px 4px)"
    return tag(
        "span", "", class_="hnb-swatch", style=f"display:inline-block;width:10px;height:10px;margin-right:6px;{fill}"
    )
