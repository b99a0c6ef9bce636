"""The two stores, notes and user profile, with the rules of the `memory` tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness_nb.memory.designs.hermes.entries import EntryFile, joined
from harness_nb.memory.designs.hermes.scan import threat_in

TARGETS = ("memory", "user")
MOST_FAILURES = 3
"""Failed attempts of one turn after which the next one is told to stop."""

PREVIEW_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a change.

    Attributes:
        kind: In one word: `added`, `duplicate`, `replaced`, `removed`, `batch_applied`, `staged`; else why not.
        entries: The entries afterwards.
        used: Characters in use.
        limit: Most characters.
        previews: Beginnings of the entries that a text matched.
        pattern: Pattern of the scan that was matched.
        backup: Name of the copy of a file that was edited by hand.
        shows_entries: Whether the model is shown what there is.
        shows_usage: Whether it is told how full the store is.
    """

    kind: str
    entries: tuple[str, ...] = ()
    used: int = 0
    limit: int = 0
    previews: tuple[str, ...] = ()
    pattern: str = ""
    backup: str = ""
    shows_entries: bool = False
    shows_usage: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the store is now as it was asked for."""
        return self.kind in ("added", "duplicate", "replaced", "removed", "batch_applied", "staged")


class Refused(Exception):  # noqa: N818 - ends a change, and becomes its outcome
    """A change can't be made."""

    def __init__(self, kind: str, **fields: Any) -> None:
        super().__init__(kind)
        self.kind = kind
        self.fields = fields


@dataclass(eq=False)
class BoundedMemory:
    """Both stores, and how often a change failed in the turn in progress.

    Attributes:
        files: The file of each target.
        scans: Finds a threat in a text; names it.
        failures: Failed attempts in a row.
    """

    files: Mapping[str, EntryFile]
    scans: Callable[[str], str] = threat_in
    failures: int = field(default=0, init=False)

    def new_turn(self) -> None:
        """A turn of the user begins: what failed before is forgotten."""
        self.failures = 0

    def change(self, arguments: Mapping[str, Any]) -> Outcome:
        """Carries out a call of the `memory` tool.

        Raises:
            StoreError: A file can't be read or written.
        """
        file = self.files.get(str(arguments.get("target") or "memory"))
        if file is None:
            return Outcome(kind="invalid_target")
        operations = arguments.get("operations")
        try:
            outcome = self._batch(file, operations) if operations else self._single(file, arguments)
        except Refused as refused:
            return self._refused(file, refused)
        self.failures = 0
        return outcome

    def _refused(self, file: EntryFile, refused: Refused) -> Outcome:
        if refused.kind in ("overflow", "no_match"):
            if self.failures >= MOST_FAILURES:
                return Outcome(kind="retry_cap")
            self.failures += 1
        entries = file.read()
        return Outcome(
            kind=refused.kind, entries=tuple(entries), used=len(joined(entries)), limit=file.limit, **refused.fields
        )

    def _single(self, file: EntryFile, operation: Mapping[str, Any]) -> Outcome:
        action = operation.get("action")
        self._check(operation)
        with file.changing() as entries:
            if action != "add":
                _refuse_drift(file)
            kind = _applied(entries, operation)
            if kind != "duplicate":
                _refuse_overflow(entries, file.limit, action)
                file.write(entries)
        return _outcome(kind, entries, file.limit)

    def _batch(self, file: EntryFile, operations: Sequence[Mapping[str, Any]]) -> Outcome:
        """All operations on a copy, or none: only the final size counts."""
        for operation in operations:
            self._check(operation)
        with file.changing() as entries:
            _refuse_drift(file)
            for operation in operations:
                _applied(entries, operation)
            _refuse_overflow(entries, file.limit, "add")
            file.write(entries)
        return _outcome("batch_applied", entries, file.limit)

    def _check(self, operation: Mapping[str, Any]) -> None:
        """Refuses an operation that lacks something, or that the scan stops."""
        action = operation.get("action")
        if action not in ("add", "replace", "remove"):
            raise Refused("unknown_action")
        if action != "add" and not _text(operation, "old_text"):
            raise Refused("missing_old_text", shows_entries=True, shows_usage=True)
        if action == "remove":
            return
        content = _text(operation, "content")
        if not content:
            raise Refused("missing_content")
        pattern = self.scans(content)
        if pattern:
            raise Refused("blocked", pattern=pattern)


def _outcome(kind: str, entries: Sequence[str], limit: int) -> Outcome:
    return Outcome(kind=kind, entries=tuple(entries), used=len(joined(entries)), limit=limit, shows_usage=True)


def _text(operation: Mapping[str, Any], name: str) -> str:
    value = operation.get(name)
    return value.strip() if isinstance(value, str) else ""


def _applied(entries: list[str], operation: Mapping[str, Any]) -> str:
    """Makes a change in a list of entries, and says in a word what it was."""
    content = _text(operation, "content")
    if operation["action"] == "add":
        if content in entries:
            return "duplicate"
        entries.append(content)
        return "added"
    at = _found(entries, _text(operation, "old_text"))
    if operation["action"] == "replace":
        entries[at] = content
        return "replaced"
    del entries[at]
    return "removed"


def _found(entries: Sequence[str], part: str) -> int:
    """Position of the one entry that holds a text; the first of equal ones."""
    found = [at for at, entry in enumerate(entries) if part in entry]
    if not found:
        raise Refused("no_match", shows_entries=True)
    distinct = dict.fromkeys(entries[at] for at in found)
    if len(distinct) > 1:
        raise Refused("ambiguous", previews=tuple(map(preview, distinct)))
    return found[0]


def preview(entry: str) -> str:
    """The beginning of an entry."""
    return entry if len(entry) <= PREVIEW_CHARS else entry[:PREVIEW_CHARS] + "..."


def _refuse_overflow(entries: Sequence[str], limit: int, action: object) -> None:
    if action != "remove" and len(joined(entries)) > limit:
        raise Refused("overflow", shows_entries=True, shows_usage=True)


def _refuse_drift(file: EntryFile) -> None:
    copy = file.drifted()
    if copy is not None:
        raise Refused("drift", backup=copy.name)
