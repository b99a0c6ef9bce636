"""How much of the evidence a search brings, on LoCoMo: `python tests/benchmarks/locomo_retrieval.py`.

The folder of recorded conversations is named by HARNESS_NB_DATA. One workspace a conversation; a turn is an entry of the log
of its day, with date, speaker, text and caption; every question that has evidence is searched for as it stands, with
default settings. Recall at k is the share of a question's evidence among the first k lines, meaned over questions.
Exits 1 when a figure is below its least.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness_nb.lab.datasets import load
from harness_nb.lab.datasets.locomo import CATEGORIES
from harness_nb.lab.retrieval import KS, Retrieval, retrieval

TUNED_ON = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43")
"""The constants of the search were chosen by these. Figures of the others were seen while it was built: they are no blind test."""

WAYS: dict[str, dict[str, Any]] = {
    "keyword": {},
    "keyword, neighbours": {"neighbours": 1},
    "hybrid": {"mode": "hybrid"},
    "hybrid, neighbours": {"mode": "hybrid", "neighbours": 1},
}
LEAST = {"keyword": (57, 65, 72, 78), "keyword, neighbours": (61, 70, 80, 85), "hybrid": (59, 66, 75, 81)}
MOST_BELOW_KEYWORD = 2.0

PUBLISHED = {
    "DRAGON, dense, by turn": ((56.7, 66.2, 76.7, 82.7), (46.6, 77.3, 40.8, 77.7, 54.7)),
    "FTS5, porter, stop list": ((57.2, 65.3, 72.7, 78.2), (34.8, 71.8, 32.2, 72.1, 73.7)),
    "FTS5, neighbours": ((61.3, 70.2, 80.6, 85.2), (32.6, 68.8, 29.1, 81.1, 83.0)),
    "FTS5 and static vectors, weight 0.4": ((59.8, 67.2, 76.2, 82.7), None),
}
"""Recall in %, at each k, and at 10 by category."""


def recalls(found: Retrieval) -> tuple[float, ...]:
    """Mean recall at each k, in %."""
    return tuple(100 * found.recall(k) for k in KS)


def row(name: str, figures: Sequence[float], note: str = "") -> str:
    """A line of a table."""
    return f"{name:<44} {' '.join(f'{figure:8.1f}' for figure in figures)}  {note}".rstrip()


def print_recalls(found: dict[str, Retrieval]) -> bool:
    """Prints recall at each k beside the published figures; whether every figure is at least its least."""
    print(row("recall in %, at", KS).replace(".0", "  "))
    is_kept = True
    for name, one in found.items():
        figures = recalls(one)
        least = LEAST.get(name, ())
        is_kept &= all(figure >= wanted for figure, wanted in zip(figures, least, strict=False))
        print(row(name, figures, f"at least {' / '.join(map(str, least))}" if least else ""))
        for title, is_tuned in (("tuned on", True), ("held out", False)):
            part = one.of(lambda hits, is_tuned=is_tuned: (hits.conversation in TUNED_ON) is is_tuned)
            print(row(f"  {title}", recalls(part)))
    for name, (figures, _) in PUBLISHED.items():
        print(row(f"published: {name}", figures))
    return is_kept


def print_categories(found: dict[str, Retrieval]) -> bool:
    """Prints recall at 10 by category; whether hybrid is nowhere far below keyword, at no k."""
    names = tuple(CATEGORIES.values())
    print(f"\n{'recall at 10 in %, by category':<44} {' '.join(f'{name[:8]:>8}' for name in names)}")
    for name, one in found.items():
        print(row(name, [100 * one.of_category(category).recall(10) for category in names]))
    for name, (_, figures) in PUBLISHED.items():
        if figures is not None:
            print(row(f"published: {name}", figures))
    print("\nhybrid above keyword, in points, at " + " / ".join(map(str, KS)))
    gains = [gain(found["hybrid"].of_category(name), found["keyword"].of_category(name)) for name in names]
    for name, one in zip(names, gains, strict=True):
        print(row(name, one))
    return all(points >= -MOST_BELOW_KEYWORD for one in gains for points in one)


def gain(ours: Retrieval, other: Retrieval) -> tuple[float, ...]:
    """Points of recall above another search, at each k."""
    return tuple(a - b for a, b in zip(recalls(ours), recalls(other), strict=True))


def main() -> int:
    """Prints the tables and says whether every figure was reached."""
    data = os.environ.get("HARNESS_NB_DATA")
    if not data:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 1
    chats = load(Path(data) / "locomo")
    found = {name: retrieval(chats, **way) for name, way in WAYS.items()}
    print(f"LoCoMo, {len(chats)} conversations, {len(found['keyword'].found)} questions with evidence")
    is_kept = print_recalls(found) & print_categories(found)
    for name, one in found.items():
        print(f"{name}: a search took {1000 * one.seconds():.2f} ms, p95 {1000 * one.seconds(0.95):.2f} ms")
    print("every figure reached" if is_kept else "BELOW THE LEAST")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
