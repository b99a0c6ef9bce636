"""What `agent.memory` answers with: small frozen records that show themselves and have a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, overload

from harness_nb.core.tokens import CharsCounter
from harness_nb.memory.pieces import text_lines
from harness_nb.store.daily_log import Entry

if TYPE_CHECKING:
    from pandas import DataFrame


class Displayed:
    """Something that a notebook shows as HTML and everything else as text."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import bundle

        return bundle(self)


@dataclass(frozen=True, slots=True, repr=False)
class MemoryText(Displayed):
    """The curated memory.

    Attributes:
        path: Its name in the workspace.
        text: What it says, empty when there is none.
    """

    path: str
    text: str

    def __repr__(self) -> str:
        return f"MemoryText({self.path!r}, {counted(len(text_lines(self.text)), 'line')})"

    def __str__(self) -> str:
        return self.text.rstrip() or f"{self.path} is empty."

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each line that is not blank: path, line, text, heading (the last one above it)."""
        found: list[dict[str, Any]] = []
        heading = ""
        for number, line in enumerate(text_lines(self.text), 1):
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif line.strip():
                found.append({"path": self.path, "line": number, "text": line, "heading": heading})
        return found

    @property
    def df(self) -> DataFrame:
        """One row a line that is neither blank nor a heading."""
        from harness_nb.frames import memory_frame

        return memory_frame(self.records)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a log entry stands.

    Attributes:
        state: `pending` or `merged`.
        in_memory: Whether MEMORY.md says it now.
    """

    state: str
    in_memory: bool


class DailyLogView(Displayed, Sequence[Entry]):
    """Entries of the daily logs, oldest first.

    Args:
        entries: The entries.
        day: The day they are of, or None for all days.
        standing: Says how entries stand, when that is asked for.
    """

    __slots__ = ("day", "_entries", "_standing")

    def __init__(
        self,
        entries: Sequence[Entry],
        day: date | None = None,
        standing: Callable[[Sequence[Entry]], Sequence[Standing]] | None = None,
    ) -> None:
        self._entries = tuple(entries)
        self._standing = standing
        self.day = day

    @overload
    def __getitem__(self, at: int) -> Entry: ...

    @overload
    def __getitem__(self, at: slice) -> DailyLogView: ...

    def __getitem__(self, at: int | slice) -> Entry | DailyLogView:
        return DailyLogView(self._entries[at], self.day, self._standing) if isinstance(at, slice) else self._entries[at]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __repr__(self) -> str:
        of = self.day.isoformat() if self.day else counted(len({entry.date for entry in self}), "day")
        return f"DailyLogView({counted(len(self), 'entry', 'entries')} of {of})"

    def __str__(self) -> str:
        return "\n".join(map(entry_line, self)) or f"Nothing is logged{f' on {self.day}' if self.day else ''} yet."

    @property
    def records(self) -> list[dict[str, Any]]:
        """The entries as mappings.

        The fields of `Entry`, the time with day and zone, the path in the workspace, the size, and how each stands.
        """
        counter = CharsCounter()
        made = [
            asdict(entry)
            | {"time": entry.moment, "path": f"memory/{entry.date.isoformat()}.md"}
            | {"tokens": counter.count_text(entry.text)}
            for entry in self
        ]
        standing = self._standing(self._entries) if self._standing is not None else ()
        return [record | asdict(stands) for record, stands in zip(made, standing, strict=True)] if standing else made

    @property
    def df(self) -> DataFrame:
        """One row an entry."""
        from harness_nb.frames import daily_logs_frame

        return daily_logs_frame(self.records)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, in the plural where it is not one."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def entry_line(entry: Entry) -> str:
    """A log entry in one line, with day and time."""
    clock = f" {entry.time:%H:%M}" if entry.time else ""
    return f"{entry.date}{clock}  {' '.join(entry.text.split())}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MemoryStatus(Displayed):
    """State of the durable memory.

    Attributes:
        workspace: Folder of the workspace.
        memory_chars: Size of MEMORY.md in characters.
        memory_lines: Its lines.
        log_days: Days that have a log.
        log_entries: Entries in all of them.
        entries_today: Entries in today's.
        sessions: Sessions that have files.
        index_path: Where the search index lies.
        index_state: What it holds, `not built yet`, or what is wrong with it.
        pending: Log entries that are not merged into MEMORY.md yet.
        last_consolidation: When a consolidation last succeeded, in any kernel, or None.
        failures: Consolidations that failed since.
        warnings: What the index warned of, and what is wrong with the state file.
        last_flush: When the last flush ended, or None before the first one of this agent.
        last_facts: Facts that it wrote.
        last_failure: Why it failed, empty when it did not.
    """

    workspace: str
    memory_chars: int
    memory_lines: int
    log_days: int
    log_entries: int
    entries_today: int
    sessions: int
    index_path: str
    index_state: str
    pending: int = 0
    last_consolidation: datetime | None = None
    failures: int = 0
    warnings: tuple[str, ...] = ()
    last_flush: datetime | None = None
    last_facts: int = 0
    last_failure: str = ""

    def __repr__(self) -> str:
        return f"MemoryStatus({counted(self.memory_lines, 'line')} of MEMORY.md, {self._logs()})"

    def __str__(self) -> str:
        width = max(len(record["name"]) for record in self.records)
        return "\n".join(f"{record['name']:<{width}}  {record['value']}" for record in self.records)

    @property
    def records(self) -> list[dict[str, str]]:
        """Name and value of each line that is shown."""
        shown = {
            "workspace": self.workspace,
            "MEMORY.md": f"{counted(self.memory_lines, 'line')}, {counted(self.memory_chars, 'character')}",
            "daily logs": f"{self._logs()}, {self.entries_today:,} of them today",
            "sessions": f"{self.sessions:,}",
            "index": f"{self.index_state} ({self.index_path})",
            "last flush": self._flush(),
            "consolidation": self._consolidation(),
        }
        warnings = [{"name": "warning", "value": warning} for warning in self.warnings]
        return [{"name": name, "value": value} for name, value in shown.items()] + warnings

    def _logs(self) -> str:
        return f"{counted(self.log_entries, 'entry', 'entries')} on {counted(self.log_days, 'day')}"

    def _flush(self) -> str:
        if self.last_flush is None:
            return "none yet"
        came = f"failed: {self.last_failure}" if self.last_failure else f"{counted(self.last_facts, 'fact')} written"
        return f"{self.last_flush:%Y-%m-%d %H:%M}, {came}"

    def _consolidation(self) -> str:
        last = f"last {self.last_consolidation:%Y-%m-%d %H:%M}" if self.last_consolidation else "none yet"
        failed = f", {counted(self.failures, 'attempt')} failed since" if self.failures else ""
        return f"{last}{failed}, {counted(self.pending, 'log entry', 'log entries')} to merge"

    @property
    def df(self) -> DataFrame:
        """One row a line that is shown."""
        from harness_nb.frames import status_frame

        return status_frame(self.records)
