"""What the pointer does on a strip: clicks and drags, as parts of its width."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

ASSETS = Path(__file__).parent.parent / "assets"

Moved = Callable[[str, float, int], None]


class Pointer(anywidget.AnyWidget):
    """Listens to the pointer on the strips of the widget that it stands in; it shows nothing itself.

    Args:
        moved: Called with `click` or `drag`, the place as a part of the strip's width, and the number of the strip.
    """

    _esm = (ASSETS / "pointer.js").read_text(encoding="utf-8")
    _css = (ASSETS / "pointer.css").read_text(encoding="utf-8")

    def __init__(self, moved: Moved) -> None:
        super().__init__()
        self._moved = moved
        self.on_msg(self._take)

    def _take(self, _: Any, content: Any, buffers: Any) -> None:
        kind, share = content.get("kind"), content.get("share")
        if kind in ("click", "drag") and isinstance(share, int | float):
            self._moved(kind, min(1.0, max(0.0, float(share))), int(content.get("column") or 0))
