"""The shapes of the pressure display. No words inside: words follow the page's theme, a picture can't."""

from __future__ import annotations

from harness_nb.render.pressure import CoursePoint, PressureModel
from harness_nb.render.theme import DANGER, NEUTRAL

BAR_HEIGHT = 46
COURSE_HEIGHT = 58

_TOP, _THICK, _BAND = 6, 30, 42
_LINE = "#3a86d8"
_COURSE_TOP, _COURSE_DEPTH = 4.0, COURSE_HEIGHT - 8.0


def bar_svg(model: PressureModel) -> str:
    """The bar, in percent of the picture: parts by colour, free, reserved hatched, tiers as bands, triggers as marks."""
    extent = model.extent
    marks = [one.at for one in model.thresholds if one.unit == "tokens" and 0 < one.at <= extent]
    shapes = [
        *(
            _box(start / extent, (stop - start) / extent, DANGER, opacity, 0, _BAND)
            for start, stop, opacity in _bands(model)
        ),
        _box(0, 1, NEUTRAL, 0.16),
        _box((model.window - model.reserved_shown) / extent, model.reserved_shown / extent, "url(#h)"),
        *_parts(model),
        *(_mark(at / extent) for at in marks),
        _mark(model.window / extent, 3) if model.tokens > model.window else "",
        _pointer(min(0.999, model.tokens / extent)),
    ]
    return _svg(BAR_HEIGHT, "".join(shapes))


def _parts(model: PressureModel) -> list[str]:
    """Each part with a fine gap at its end."""
    shapes, start = [], 0.0
    for part in model.parts:
        width = part.tokens / model.extent
        shapes.append(_box(start, width, part.colour))
        start += width
        if width > 0.004:
            shapes.append(f'<rect x="{start:.3%}" y="{_TOP}" width="1" height="{_THICK}" fill="#fff" opacity=".7"/>')
    return shapes


def _bands(model: PressureModel) -> list[tuple[int, int, float]]:
    """Start, end and opacity of each tier's band."""
    tiers = sorted((one for one in model.thresholds if one.number), key=lambda one: one.at)
    ends = [*(one.at for one in tiers), max(model.extent, *(one.at for one in tiers), 0)][1:]
    return [(one.at, end, min(0.12 * one.number, 0.5)) for one, end in zip(tiers, ends, strict=False)]


def _box(start: float, width: float, fill: str, opacity: float = 1, top: float = _TOP, height: float = _THICK) -> str:
    if width <= 0:
        return ""
    faded = f' opacity="{opacity:.2f}"' if opacity < 1 else ""
    return f'<rect x="{start:.3%}" y="{top}" width="{width:.3%}" height="{height}" fill="{fill}"{faded}/>'


def _mark(at: float, width: float = 1.5) -> str:
    return f'<rect x="{min(at, 0.998):.3%}" y="0" width="{width}" height="{_BAND}" fill="{DANGER}"/>'


def _pointer(at: float) -> str:
    return f'<svg x="{at:.3%}" y="37" overflow="visible"><path d="M0 0l5 8h-10z" fill="{NEUTRAL}"/></svg>'


def _svg(height: int, inner: str) -> str:
    hatch = (
        '<defs><pattern id="h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="1.5" height="7" fill="{NEUTRAL}"/></pattern></defs>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{height}">{hatch}{inner}</svg>'


def course_svg(model: PressureModel) -> str:
    """The course: size at each step as a line, tiers as bands behind it, triggers and marks as dashed lines."""
    most = max(model.extent, *(point.tokens for point in model.course))
    bands = [
        f'<rect width="100%" y="{_y(stop, most):.1f}" height="{_y(start, most) - _y(stop, most):.1f}" fill="{DANGER}" '
        f'opacity="{opacity:.2f}"/>'
        for start, stop, opacity in _bands(model)
    ]
    triggers = [
        f'<line x2="100%" y1="{_y(one.at, most):.1f}" y2="{_y(one.at, most):.1f}" stroke="{DANGER}" stroke-dasharray="5 4"/>'
        for one in model.thresholds
        if not one.number and one.unit == "tokens" and 0 < one.at <= most
    ]
    return _svg(
        COURSE_HEIGHT, "".join((*bands, *triggers, _stretched(_dashes(model.course) + _curve(model.course, most))))
    )


def _y(tokens: int, most: int) -> float:
    return _COURSE_TOP + _COURSE_DEPTH * (1 - min(tokens, most) / most)


def _dashes(course: tuple[CoursePoint, ...]) -> str:
    """A fine line at each mark, all of them one path."""
    span = len(course) - 1
    lines = "".join(f"M{1000 * at / span:.0f} 0V{COURSE_HEIGHT}" for at, point in enumerate(course) if point.mark)
    dashed = f'stroke="{NEUTRAL}" stroke-dasharray="2 3" vector-effect="non-scaling-stroke"'
    return f'<path d="{lines}" {dashed}/>' if lines else ""


def _curve(course: tuple[CoursePoint, ...], most: int) -> str:
    span = len(course) - 1
    points = " ".join(f"{1000 * at / span:.0f},{_y(point.tokens, most):.1f}" for at, point in enumerate(course))
    return (
        f'<polyline points="{points}" fill="none" stroke="{_LINE}" stroke-width="1.8" stroke-linejoin="round" '
        'vector-effect="non-scaling-stroke"/>'
    )


def _stretched(inner: str) -> str:
    """Shapes in thousandths of the width."""
    return (
        f'<svg viewBox="0 0 1000 {COURSE_HEIGHT}" width="100%" height="{COURSE_HEIGHT}" preserveAspectRatio="none">'
        f"{inner}</svg>"
    )
