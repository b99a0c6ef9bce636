"""Numbers as people type them: `200000`, `200_000`, `200k`, `1.5m`."""

from __future__ import annotations

import re

_FIGURE = re.compile(r"([+-]?\d[\d_]*(?:\.\d+)?)([km]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def figure(text: str) -> int | float | None:
    """The number that a text stands for, None when it is none; a whole number where `k` or `m` makes one."""
    found = _FIGURE.fullmatch(text)
    if found is None:
        return None
    digits, unit = found[1], _TIMES[found[2].lower()]
    scaled = (float(digits) if "." in digits else int(digits)) * unit
    return int(scaled) if unit > 1 and scaled == int(scaled) else scaled
