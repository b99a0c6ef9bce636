"""What the pointer does on a strip, as parts of its width, and which cell of a heat map is chosen by pointer or keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

ASSETS = Path(__file__).parent.parent / "assets"

Moved = Callable[[str, float, int], None]
Chosen = Callable[[int, int, int], None]


class Pointer(anywidget.AnyWidget):
    """Listens to the pointer on the strips of the widget that it stands in; it shows nothing itself.

    Args:
        moved: Called with `click` or `drag`, the place as a part of the strip's width, and the number of the strip.
        chosen: Called with the number of the heat map, and row and column of the cell; None where there is none.
    """

    _esm = (ASSETS / "pointer.js").read_text(encoding="utf-8")
    _css = (ASSETS / "pointer.css").read_text(encoding="utf-8")

    def __init__(self, moved: Moved, chosen: Chosen | None = None) -> None:
        super().__init__()
        self._moved = moved
        self._chosen = chosen
        self.on_msg(self._take)

    def _take(self, _: Any, content: Any, buffers: Any) -> None:
        kind, share = content.get("kind"), content.get("share")
        if kind in ("click", "drag") and isinstance(share, int | float):
            self._moved(kind, min(1.0, max(0.0, float(share))), int(content.get("column") or 0))
        elif kind == "cell" and self._chosen is not None:
            self._chosen(*(max(0, int(content.get(name) or 0)) for name in ("column", "at", "n")))
