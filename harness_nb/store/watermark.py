"""The watermark: up to where each daily log was consolidated, by content, and when that last succeeded.

`memory/.consolidation_state` is JSON. For each log it holds how many bytes were merged and a hash of these bytes: a log
whose beginning is another by now counts as new, whatever its times say. A file that can't be read, or says what can't be,
counts as none, with a warning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness_nb.core.clock import Clock
from harness_nb.store.daily_log import day_of
from harness_nb.store.files import make_folder, read_bytes, unusable, write_atomic
from harness_nb.store.locks import locked

VERSION = 1

_MOST_FAILURES = 1_000
_CLOCK_TOLERANCE = timedelta(days=366)  # clocks are set back; what is dated later than that is not a clock's doing


@dataclass(frozen=True, slots=True)
class Mark:
    """The merged beginning of a log: its size in bytes and the SHA-256 of these bytes."""

    size: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationState:
    """What is known about earlier consolidations.

    Attributes:
        marks: By day: what of its log was merged.
        last_success: When a consolidation last wrote what it should, or None.
        last_attempt: When one was last tried, or None.
        failures: Attempts that failed since the last success.
        memory_hash: SHA-256 of MEMORY.md as a consolidation last wrote it, or empty.
        last_candidate: Number of the last candidate.
        last_cycle: When a whole maintenance cycle last ended, or None.
    """

    marks: Mapping[date, Mark] = field(default_factory=lambda: MappingProxyType({}))
    last_success: datetime | None = None
    last_attempt: datetime | None = None
    failures: int = 0
    memory_hash: str = ""
    last_candidate: int = 0
    last_cycle: datetime | None = None


class Watermark:
    """The watermark of one workspace.

    Args:
        path: Its file.
        clock: The time; what the file dates later than now is not believed.
    """

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self.path = path
        self._clock = clock

    def read(self) -> tuple[ConsolidationState, str]:
        """What the file says, and what is wrong with it; empty where nothing is.

        Raises:
            StoreError: The file is there and can't be read.
        """
        data = read_bytes(self.path)
        if data is None:
            return ConsolidationState(), ""
        try:
            return _state(json.loads(data), self._clock.now()), ""
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            name = self.path.name
            return ConsolidationState(), f"{name} can't be used ({error}): all daily logs count as not merged yet."

    def change(self, edit: Callable[[ConsolidationState], ConsolidationState]) -> ConsolidationState:
        """Replaces the state by what `edit` makes of it; nobody else writes in between.

        Raises:
            StoreError: The file can't be written.
        """
        try:
            make_folder(self.path.parent)
            with locked(self.path):
                state = edit(self.read()[0])
                write_atomic(self.path, f"{json.dumps(_record(state), indent=1)}\n")
                return state
        except OSError as error:
            raise unusable(self.path, "write", error) from error


def content_hash(text: str | bytes) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")).hexdigest()


def mark_upto(data: bytes, line: int) -> Mark:
    """The mark behind a line of a log.

    Args:
        data: The log's bytes.
        line: Number of the line, from 1; one behind the end marks the whole log.
    """
    end = 0
    for _ in range(line):
        end = data.find(b"\n", end) + 1
        if end == 0:
            return mark_of(data)
    return mark_of(data[:end])


def mark_of(data: bytes) -> Mark:
    """The mark at the end of some bytes."""
    return Mark(len(data), content_hash(data))


def merged_lines(data: bytes, mark: Mark | None) -> int:
    """How many lines of a log are merged: those up to the mark, none where what stands before it is another by now."""
    if mark is None or mark.size == 0:
        return 0
    head = data[: mark.size]
    if len(head) != mark.size or content_hash(head) != mark.hash:
        return 0
    return head.count(b"\n") + (not head.endswith(b"\n"))


def _record(state: ConsolidationState) -> dict[str, Any]:
    return {
        "version": VERSION,
        "last_success": _iso(state.last_success),
        "last_attempt": _iso(state.last_attempt),
        "failures": state.failures,
        "memory_hash": state.memory_hash,
        "last_candidate": state.last_candidate,
        "last_cycle": _iso(state.last_cycle),
        "files": marks_record(state.marks),
    }


def marks_record(marks: Mapping[date, Mark]) -> dict[str, dict[str, Any]]:
    """Marks as JSON values, by file name."""
    return {f"{day.isoformat()}.md": {"bytes": mark.size, "hash": mark.hash} for day, mark in sorted(marks.items())}


def marks_of(record: Mapping[str, Mapping[str, Any]]) -> dict[date, Mark]:
    """Marks from JSON values.

    Raises:
        ValueError: They are none.
    """
    found = {}
    for name, mark in record.items():
        day = day_of(name)
        if day is None or isinstance(mark["bytes"], bool) or not isinstance(mark["bytes"], int) or mark["bytes"] < 0:
            raise ValueError(f"{name!r} has no mark")
        found[day] = Mark(mark["bytes"], str(mark["hash"]))
    return found


def _state(record: Mapping[str, Any], now: datetime) -> ConsolidationState:
    if record["version"] != VERSION:
        raise ValueError(f"version {record['version']!r}")
    failures, last = record.get("failures", 0), record.get("last_candidate", 0)
    if not 0 <= int(failures) <= _MOST_FAILURES or int(last) < 0:
        raise ValueError("figures that can't be")
    return ConsolidationState(
        marks=MappingProxyType(marks_of(record["files"])),
        last_success=_moment(record.get("last_success"), now),
        last_attempt=_moment(record.get("last_attempt"), now),
        failures=int(failures),
        memory_hash=str(record.get("memory_hash", "")),
        last_candidate=int(last),
        last_cycle=_moment(record.get("last_cycle"), now),
    )


def _moment(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or moment > now + _CLOCK_TOLERANCE:
        raise ValueError(f"a time that can't be, {text!r}")
    return min(moment, now)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
