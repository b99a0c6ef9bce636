"""What is remembered of past runs over sessions: when they ended, and which versions of sessions they read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from harness_nb.core.messages import to_json
from harness_nb.store.files import read_text, write_atomic

_NAME = ".extraction-state.json"
_MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class Version:
    """A session as it was at a time; one that goes on becomes another.

    Attributes:
        session: Agent and id.
        updated: When it was last written to, in ISO format.
    """

    session: str
    updated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        time: When it ended, in ISO format.
        listed: The versions that it was to read.
        read: Those that it read without an error.
        changes: Changes that it proposed.
        stopped: Why it ended.
    """

    time: str
    listed: tuple[Version, ...] = ()
    read: tuple[Version, ...] = ()
    changes: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Runs:
    """Past runs, oldest first."""

    runs: tuple[Run, ...] = field(default=())

    @property
    def last(self) -> datetime | None:
        """When the last one ended."""
        return datetime.fromisoformat(self.runs[-1].time) if self.runs else None

    @property
    def read(self) -> frozenset[Version]:
        """All versions that were read; one that was only listed comes back."""
        return frozenset(version for run in self.runs for version in run.read)

    def attempts(self, version: Version) -> int:
        """How many runs were to read a version."""
        return sum(version in run.listed for run in self.runs)

    def with_run(self, run: Run) -> Runs:
        """The runs with one more."""
        return replace(self, runs=(*self.runs, run)[-_MOST_RUNS:])


def load_runs(folder: Path) -> Runs:
    """The runs as they were stored; a file that can't be read counts as none.

    Raises:
        StoreError: The file is there, and the system refuses to read it.
    """
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Runs(tuple(_run(one) for one in json.loads(read_text(folder / _NAME) or '{"runs": []}')["runs"]))
    return Runs()


def save_runs(folder: Path, runs: Runs) -> None:
    """Stores the runs, whole.

    Raises:
        StoreError: They can't be written.
    """
    write_atomic(folder / _NAME, f"{to_json({'runs': [_record(run) for run in runs.runs]})}\n")


def _run(record: dict[str, Any]) -> Run:
    datetime.fromisoformat(record["time"])
    versions = {name: tuple(Version(*one) for one in record.get(name, ())) for name in ("listed", "read")}
    return Run(time=record["time"], changes=record.get("changes", 0), stopped=record.get("stopped", ""), **versions)


def _record(run: Run) -> dict[str, Any]:
    def pairs(versions: Iterable[Version]) -> list[list[str]]:
        return [[one.session, one.updated] for one in versions]

    told = {"time": run.time, "changes": run.changes, "stopped": run.stopped}
    return {**told, "listed": pairs(run.listed), "read": pairs(run.read)}
