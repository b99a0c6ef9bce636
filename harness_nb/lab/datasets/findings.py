"""What is found in the files of a data set that is not as it should be, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the files that is not as it should be, and what was done about it.

    Attributes:
        what: What was found and done.
        count: How often.
        where: The first places, as `conversation: detail`.
    """

    what: str
    count: int
    where: tuple[str, ...] = ()


class Findings:
    """Counts what is found while files are read."""

    MOST_PLACES = 12

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._places: dict[str, list[str]] = {}

    def add(self, what: str, where: str = "", count: int = 1) -> None:
        """Counts one more, or several at one place; nothing when there are none."""
        if not count:
            return
        self._counts[what] += count
        places = self._places.setdefault(what, [])
        if where and len(places) < self.MOST_PLACES:
            places.append(where)

    def all(self) -> tuple[Finding, ...]:
        """What was counted, in the order in which it was first seen."""
        return tuple(Finding(what, count, tuple(self._places[what])) for what, count in self._counts.items())
