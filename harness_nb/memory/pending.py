"""Log entries that are not merged into curated memory yet, and the batches in which they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from harness_nb.core.tokens import TokenCounter
from harness_nb.store.daily_log import DailyLog, Entry, read_entries
from harness_nb.store.files import read_bytes
from harness_nb.store.watermark import Mark, mark_of, mark_upto, merged_lines


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries for one request, and the marks that hold once they are merged."""

    entries: tuple[Entry, ...]
    marks: Mapping[date, Mark]


@dataclass(frozen=True, slots=True)
class _Day:
    data: bytes
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """What is not merged yet, as the logs were when they were read.

    Attributes:
        days: By day, oldest first: the log's bytes and its entries that are not merged.
    """

    days: Mapping[date, _Day] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All of them, oldest first."""
        return tuple(entry for day in self.days.values() for entry in day.entries)

    def batch(self, max_tokens: int, counter: TokenCounter) -> Batch:
        """The oldest of them, whole days as far as they fit; of a day that is too large by itself, its first entries."""
        taken: list[Entry] = []
        marks: dict[date, Mark] = {}
        left = max_tokens
        for when, day in self.days.items():
            sizes = [counter.count_text(f"- {entry.text}\n") for entry in day.entries]
            if sum(sizes) <= left:
                taken += day.entries
                marks[when] = mark_of(day.data)
                left -= sum(sizes)
                continue
            if not taken:
                fit = _fitting(sizes, left)
                taken += day.entries[:fit]
                marks[when] = mark_upto(day.data, day.entries[fit - 1].line)
            break
        return Batch(tuple(taken), marks)


def _fitting(sizes: Sequence[int], room: int) -> int:
    """How many of the first ones fit, at least one."""
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > room:
            return max(count, 1)
    return len(sizes)


def pending(log: DailyLog, marks: Mapping[date, Mark]) -> Pending:
    """What is not merged yet.

    Args:
        log: The daily logs.
        marks: Up to where each was merged.

    Raises:
        StoreError: A log can't be read.
    """
    found: dict[date, _Day] = {}
    for day in log.days():
        data = read_bytes(log.path(day)) or b""
        merged = merged_lines(data, marks.get(day))
        entries = read_entries(data.decode("utf-8", "replace"), day)
        new = tuple(entry for entry in entries if entry.line > merged)
        if new:
            found[day] = _Day(data, new)
    return Pending(found)


def is_merged(data: bytes, mark: Mark | None, day: date) -> bool:
    """Whether every entry of a log was merged."""
    merged = merged_lines(data, mark)
    return all(entry.line <= merged for entry in read_entries(data.decode("utf-8", "replace"), day))
