"""A candidate: a new curated memory that was made and not applied yet, with what it would change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any, Literal

from harness_nb.errors import StoreError
from harness_nb.memory.changes import Change
from harness_nb.store.candidates import CandidateFiles
from harness_nb.store.watermark import Mark, marks_of, marks_record

VERSION = 1

CandidateStatus = Literal["waiting", "applying"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed MEMORY.md.

    Attributes:
        number: Names it.
        created: When it was made.
        status: `waiting` for a decision, or `applying`, which a crash in the middle of that leaves behind.
        reason: Why it waits.
        base_hash: SHA-256 of the MEMORY.md that it was made from.
        text: The whole new MEMORY.md.
        changes: What is not decided yet, entry by entry.
        is_whole: Whether nothing was decided or edited yet, so that `text` is what its changes make of the base.
        marks: What counts as merged once it is decided on.
        entries: How many log entries it was made from.
        missing: Facts of these that it does not hold.
        trimmed: Entries that were taken out to keep the cap.
    """

    number: int
    created: datetime
    status: CandidateStatus = "waiting"
    reason: str = ""
    base_hash: str = ""
    text: str = ""
    changes: tuple[Change, ...] = ()
    is_whole: bool = True
    marks: Mapping[date, Mark] = field(default_factory=dict)
    entries: int = 0
    missing: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()

    def change(self, number: int) -> Change:
        """One of its changes.

        Raises:
            StoreError: It has no such change.
        """
        for change in self.changes:
            if change.number == number:
                return change
        there = ", ".join(str(change.number) for change in self.changes)
        raise StoreError(
            f"Candidate {self.number} has no undecided change {number!r}.", f"Undecided: {there}.", subject=number
        )

    def without(self, numbers: frozenset[int]) -> Candidate:
        """The candidate once some of its changes are decided."""
        left = tuple(change for change in self.changes if change.number not in numbers)
        return replace(self, changes=left, is_whole=False)

    def edited(self, number: int, text: str) -> Candidate:
        """The candidate with another text for what one change makes of its entry."""
        self.change(number)
        changes = tuple(replace(one, after=text) if one.number == number else one for one in self.changes)
        return replace(self, changes=changes, is_whole=False)

    def to_record(self) -> dict[str, Any]:
        """A mapping of JSON values."""
        record: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            "version": VERSION,
            **record,
            "created": self.created.isoformat(),
            "changes": [asdict(change) for change in self.changes],
            "marks": marks_record(self.marks),
        }


def candidate_from_record(record: Mapping[str, Any]) -> Candidate:
    """A candidate as it was stored.

    Raises:
        StoreError: The record is none, or of another version.
    """
    known = {one.name for one in fields(Candidate)}
    try:
        if record["version"] != VERSION:
            raise ValueError(f"version {record['version']!r}")
        values = {name: value for name, value in record.items() if name in known}
        values |= {name: tuple(values[name]) for name in ("missing", "trimmed")}
        values["created"] = datetime.fromisoformat(record["created"])
        values["marks"] = marks_of(record["marks"])
        values["changes"] = tuple(
            Change(**{**change, "sources": tuple(change["sources"])}) for change in record["changes"]
        )
        return Candidate(**values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"A stored candidate can't be used: {error}.",
            "Delete its file below memory/candidates; its log entries are pending still.",
        ) from error


def stored_candidates(files: CandidateFiles) -> tuple[list[Candidate], list[str]]:
    """All candidates that can be read, oldest first, and what is wrong with the others."""
    found, warnings = [], []
    for number in files.numbers():
        try:
            found.append(candidate_from_record(files.load(number)))
        except StoreError as error:
            warnings.append(f"Candidate {number}: {error.problem}")
    return found, warnings
