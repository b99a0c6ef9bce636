"""The two files of a session: the log, lossless and append-only, and the view, to resume from.

`<id>.log.jsonl` holds one record a line. `<id>.jsonl` holds a header and then one item a line, and is replaced as a whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.core.messages import to_json
from harness_nb.core.redact import redact, redact_json
from harness_nb.store.claims import Claim
from harness_nb.store.files import append_claimed, append_text, read_bytes, write_atomic
from harness_nb.store.names import safe_name

LOG_SUFFIX = ".log.jsonl"
VIEW_SUFFIX = ".jsonl"
VIEW_FORMAT = "harness_nb view"
VIEW_VERSION = 1
_TAIL_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class LoadedLog:
    """What a session's log holds.

    Attributes:
        records: All records that could be read, in order.
        warnings: One sentence for each line that could not.
    """

    records: list[dict[str, Any]]
    warnings: list[str]


class SessionFiles:
    """The files of one session of one agent.

    Args:
        folder: The workspace's folder of agents.
        agent: Name of the agent.
        session_id: Id of the session.
        known_keys: Gives the values that are masked wherever they occur.
    """

    def __init__(
        self, folder: Path, agent: str, session_id: str, *, known_keys: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self.agent = agent
        self.session_id = session_id
        self.folder = folder / safe_name(agent) / "sessions"
        self._known_keys = known_keys
        name = safe_name(session_id)
        self.log_path = self.folder / f"{name}{LOG_SUFFIX}"
        self.view_path = self.folder / f"{name}{VIEW_SUFFIX}"
        self._claim: Claim | None = None

    def __repr__(self) -> str:
        return f"SessionFiles({self.agent!r}, {self.session_id!r})"

    @property
    def exists(self) -> bool:
        """Whether the session has been written to."""
        return self.log_path.exists() or self.view_path.exists()

    @property
    def is_claimed(self) -> bool:
        """Whether this object has the right to write the session."""
        return self._claim is not None

    def claim(self) -> None:
        """Takes the right to write the session, which one process has at a time, until `release` or the process's end.

        Raises:
            SessionBusyError: Somebody else has it.
            StoreError: The lock can't be made.
        """
        if self._claim is None:
            self._claim = Claim(self.log_path, f"Session {self.session_id!r} of agent {self.agent!r}")

    def release(self) -> None:
        """Gives the right to write the session up."""
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.release()

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Appends records to the log, all in one write, with the keys in their texts masked.

        A signed part must have been left out before (`redact_message`); its signature is not looked into.

        Raises:
            StoreError: The log can't be written.
        """
        if not records:
            return
        append = append_claimed if self.is_claimed else append_text
        append(self.log_path, self._lines(records))

    def load(self) -> LoadedLog:
        """All records of the log; lines that hold none are skipped, each with a warning that names its number.

        Raises:
            StoreError: The log is there and can't be read.
        """
        records, warnings = [], []
        for number, line in enumerate((read_bytes(self.log_path) or b"").split(b"\n"), 1):
            if not line.strip():
                continue
            record = _record(line)
            if record is None:
                warnings.append(f"Line {number} of {self.log_path.name} is no complete record and was skipped.")
            else:
                records.append(record)
        return LoadedLog(records, warnings)

    def save_view(self, record: Mapping[str, Any]) -> None:
        """Replaces the view to resume from.

        Args:
            record: JSON values; the list `items` is written one item a line.

        Raises:
            StoreError: The view can't be written.
        """
        header = {"format": VIEW_FORMAT, "version": VIEW_VERSION, "agent": self.agent, "session": self.session_id}
        header |= {name: value for name, value in record.items() if name != "items"}
        write_atomic(self.view_path, self._lines((header, *record.get("items", ()))))

    def load_view(self) -> dict[str, Any] | None:
        """The view as it was saved, None when there is none that this version can read.

        Raises:
            StoreError: The view is there and can't be read.
        """
        lines = [line for line in (read_bytes(self.view_path) or b"").split(b"\n") if line.strip()]
        found = [_record(line) for line in lines]
        header = found[0] if found else None
        if header is None or header.get("format") != VIEW_FORMAT or header.get("version") != VIEW_VERSION:
            return None
        if None in found:  # a list with a hole in it is no model input
            return None
        return header | {"items": found[1:]}

    def last_activity(self) -> datetime | None:
        """When the session was last written to: the time of its last dated record, else of its newest file."""
        for line in reversed(_tail(self.log_path)):
            moment = _moment(_record(line))
            if moment is not None:
                return moment
        times = [path.stat().st_mtime for path in (self.log_path, self.view_path) if path.exists()]
        return datetime.fromtimestamp(max(times), UTC) if times else None

    def _lines(self, records: Iterable[Mapping[str, Any]]) -> str:
        """The records as lines, with the keys in their texts masked."""
        known = tuple(self._known_keys())
        lines = [to_json(record) for record in records]
        text = "\n".join(lines)
        if redact(text, known) != text:  # as a rule there is no key, and then this is all the work
            lines = [_masked(line, known) for line in lines]
        return "".join(f"{line}\n" for line in lines)


def _masked(line: str, known: tuple[str, ...]) -> str:
    return line if redact(line, known) == line else to_json(redact_json(json.loads(line), known))


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _moment(record: dict[str, Any] | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat((record or {})["time"])
    except (KeyError, TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _tail(path: Path) -> list[bytes]:
    """The last lines of a file, the first of them perhaps torn."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read().split(b"\n")
    except OSError:
        return []
