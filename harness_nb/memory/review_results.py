"""What waits for a consolidation or a review, what was decided, and the versions: records that show themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harness_nb.memory.candidate import Candidate
from harness_nb.memory.changes import Change
from harness_nb.memory.consolidation_report import change_line, kinds_of
from harness_nb.memory.results import Displayed, counted, entry_line
from harness_nb.store.daily_log import Entry

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PendingList(Displayed):
    """What is not in MEMORY.md yet.

    Attributes:
        entries: Log entries that are not merged, oldest first.
        candidates: Changes that wait for review, oldest first.
        last_success: When a consolidation last succeeded, or None.
        failures: Attempts that failed since.
        warnings: What is wrong with stored files.
    """

    entries: tuple[Entry, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    last_success: datetime | None = None
    failures: int = 0
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.entries) + sum(len(candidate.changes) for candidate in self.candidates)

    def __repr__(self) -> str:
        return f"PendingList({self.summary!r})"

    @property
    def summary(self) -> str:
        """How much there is, in one line."""
        changes = sum(len(candidate.changes) for candidate in self.candidates)
        told = [f"{counted(len(self.entries), 'log entry', 'log entries')} to merge"]
        told += [f"{counted(changes, 'change')} to review"] if self.candidates else []
        return ", ".join(told)

    def __str__(self) -> str:
        lines = [self.summary, *map(entry_line, self.entries)]
        for candidate in self.candidates:
            lines += [f"Candidate {candidate.number}: {candidate.reason}", *map(change_line, candidate.changes)]
        return "\n".join([*lines, *self.warnings])

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each entry (`what` is `entry`) and for each change (`what` is `change`)."""
        return [*map(_entry_record, self.entries), *(r for one in self.candidates for r in _change_records(one))]

    @property
    def df(self) -> DataFrame:
        """One row an entry or a change."""
        from harness_nb.frames import pending_frame

        return pending_frame(self.records)


def _entry_record(entry: Entry) -> dict[str, Any]:
    place = {"path": f"memory/{entry.date.isoformat()}.md", "after": entry.text}
    return asdict(entry) | place | {"what": "entry", "time": entry.moment}


def _change_records(candidate: Candidate) -> list[dict[str, Any]]:
    about = {"what": "change", "candidate": candidate.number, "time": candidate.created, "reason": candidate.reason}
    return [asdict(change) | about for change in candidate.changes]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decision(Displayed):
    """What was decided on a candidate.

    Attributes:
        verb: `accepted` or `rejected`.
        candidate: Its number.
        changes: The changes decided on.
        left: Changes that are not decided yet; with none left, the candidate is gone.
        tokens: Estimated size of MEMORY.md now.
        warning: What the user should know, or empty.
    """

    verb: str
    candidate: int
    changes: tuple[Change, ...] = ()
    left: int = 0
    tokens: int = 0
    warning: str = ""

    def __repr__(self) -> str:
        return f"Decision({self.summary!r})"

    @property
    def summary(self) -> str:
        """What was decided, in one line."""
        left = f"; {counted(self.left, 'change')} left" if self.left else ""
        return f"candidate {self.candidate} {self.verb}: {kinds_of(self.changes)}{left}"

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(change_line, self.changes), *([self.warning] if self.warning else [])])

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each change: the fields of `Change`, and the candidate."""
        return [asdict(change) | {"candidate": self.candidate} for change in self.changes]

    @property
    def df(self) -> DataFrame:
        """One row a change."""
        from harness_nb.frames import changes_frame

        return changes_frame(self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """A MEMORY.md as it was.

    Attributes:
        number: Names it, for `restore`.
        time: When it was replaced, UTC.
        path: Its file, relative to the workspace.
        entries: How many entries it has.
        tokens: Its estimated size.
    """

    number: int
    time: datetime
    path: str
    entries: int
    tokens: int


class VersionList(Displayed, Sequence[VersionRecord]):
    """The versions of MEMORY.md before each replacement, oldest first.

    Args:
        versions: The versions.
    """

    __slots__ = ("_versions",)

    def __init__(self, versions: Sequence[VersionRecord]) -> None:
        self._versions = tuple(versions)

    def __getitem__(self, at: Any) -> Any:
        return VersionList(self._versions[at]) if isinstance(at, slice) else self._versions[at]

    def __len__(self) -> int:
        return len(self._versions)

    def __iter__(self) -> Iterator[VersionRecord]:
        return iter(self._versions)

    def __repr__(self) -> str:
        return f"VersionList({counted(len(self), 'version')})"

    def __str__(self) -> str:
        return "\n".join(map(_version_line, self)) or "MEMORY.md was not replaced yet."

    @property
    def records(self) -> list[dict[str, Any]]:
        """The versions as mappings."""
        return [asdict(version) for version in self]

    @property
    def df(self) -> DataFrame:
        """One row a version."""
        from harness_nb.frames import versions_frame

        return versions_frame(self.records)


def _version_line(version: VersionRecord) -> str:
    said = f"{counted(version.entries, 'entry', 'entries')}, {version.tokens:,} tokens"
    return f"{version.number:>5}  {version.time:%Y-%m-%d %H:%M:%S} UTC  {said}"
