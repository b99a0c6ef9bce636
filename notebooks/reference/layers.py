"""The picture of the layers, drawn from the import contracts of `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
WIDTH, ROW, GAP, BOX = 640, 44, 12, 32

_STYLE = (
    "rect{fill:#eef2f7;stroke:#5b6b7f}text{fill:#1b2530;font:14px system-ui,sans-serif;text-anchor:middle}"
    "@media(prefers-color-scheme:dark){rect{fill:#26303c;stroke:#8fa1b5}text{fill:#e6ebf1}}"
)


def layers(pyproject: Path = PROJECT / "pyproject.toml") -> list[list[str]]:
    """The layers, highest first, each with its packages."""
    contracts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    found = next(one for one in contracts if one["type"] == "layers")
    return [[name.strip() for name in line.split("|")] for line in found["layers"]]


def picture() -> str:
    """The layers as SVG; each may import what stands below it."""
    rows = layers()
    boxes = "".join(box for at, names in enumerate(rows) for box in _row(GAP + at * ROW, names))
    height = GAP + len(rows) * ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img"><title>Layers: each may import what stands below it</title><style>{_STYLE}</style>{boxes}</svg>\n'
    )


def _row(top: int, names: Sequence[str]) -> Iterator[str]:
    width = (WIDTH - GAP * (len(names) + 1)) / len(names)
    for at, name in enumerate(names):
        left = GAP + at * (width + GAP)
        yield (
            f'<rect x="{left:g}" y="{top}" width="{width:g}" height="{BOX}" rx="6"/>'
            f'<text x="{left + width / 2:g}" y="{top + 21}">{escape(name)}</text>'
        )
