"""The archive: one JSON object a line, with a cursor that only grows."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_nb.core.archive import ENTRY_CHARS, entry_text, kept
from harness_nb.core.clock import Clock
from harness_nb.store.files import append_text, write_atomic

INTERNAL_KEYS = ("heartbeat",)
INTERNAL_PREFIXES = ("cron:", "dream:")
"""Sessions whose entries no other session is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One entry.

    Attributes:
        cursor: Its number, from 1.
        timestamp: Local time, to the minute.
        content: What it says.
        session_key: The session that it comes from, or None.
    """

    cursor: int
    timestamp: str
    content: str
    session_key: str | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The entry as it is stored."""
        own = {"cursor": self.cursor, "timestamp": self.timestamp, "content": self.content}
        return own if self.session_key is None else {**own, "session_key": self.session_key}


class History:
    """The archive of a workspace and how far it was read.

    Args:
        folder: Folder of the memory files.
        clock: Gives the time.
        max_entries: Most entries that stay when it is shortened; 0 for all.
        keeps_unread: Whether entries that were not read yet stay all the same.
        strict_lines: Whether a line that is JSON and no object is an error.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        max_entries: int = 1_000,
        keeps_unread: bool = False,
        strict_lines: bool = False,
    ) -> None:
        self.path = folder / "history.jsonl"
        self._counter = folder / ".cursor"
        self._read_upto = folder / ".dream_cursor"
        self._clock = clock
        self._max_entries = max_entries
        self._keeps_unread = keeps_unread
        self._strict_lines = strict_lines
        self._lock = threading.Lock()

    def append(self, text: str, *, session_key: str | None = None, is_summary: bool = False) -> HistoryEntry:
        """Adds an entry; reasoning tags are left out of it, and it is cut to its limit.

        Args:
            text: What it says.
            session_key: The session that it comes from.
            is_summary: Whether the limit is that of a summary, where the text is none of our dumps.
        """
        content = kept(text) if is_summary else entry_text(text, ENTRY_CHARS)
        with self._lock:
            stamp = f"{self._clock.now():%Y-%m-%d %H:%M}"
            entry = HistoryEntry(cursor=self._next(), timestamp=stamp, content=content, session_key=session_key or None)
            append_text(self.path, json.dumps(entry.record, ensure_ascii=False) + "\n")
            write_atomic(self._counter, str(entry.cursor))
        return entry

    def entries(self) -> list[HistoryEntry]:
        """All valid entries, in the order of the file."""
        return [entry for record in self._records() if (entry := _entry(record)) is not None]

    def unread(self, since: int | None = None) -> list[HistoryEntry]:
        """Entries behind a cursor; by default behind the one up to which they were read."""
        upto = self.read_upto if since is None else since
        return [entry for entry in self.entries() if entry.cursor > upto]

    def recent(self, session_key: str | None, *, since: int | None = None, unified: bool = False) -> list[HistoryEntry]:
        """Unread entries that a session may be shown.

        Args:
            session_key: The session; None for all entries.
            since: The cursor behind which they are; by default the one up to which they were read.
            unified: Whether sessions share their entries, but for internal ones.
        """
        found = self.unread(since)
        if session_key is None:
            return found
        return [entry for entry in found if entry.session_key == session_key or (unified and _is_shared(entry))]

    @property
    def latest(self) -> int:
        """The highest cursor given so far."""
        return max(self._next() - 1, 0)

    @property
    def read_upto(self) -> int:
        """The cursor up to which entries were read, 0 for none."""
        return _number(self._read_upto) or 0

    @read_upto.setter
    def read_upto(self, cursor: int) -> None:
        self._read_upto.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self._read_upto, str(cursor))

    def shorten(self) -> None:
        """Drops the oldest entries above the limit."""
        with self._lock:
            records = self._records()
            if self._max_entries <= 0 or len(records) <= self._max_entries:
                return
            left = records[-self._max_entries :]
            if self._keeps_unread:
                upto, old = self.read_upto, records[: -self._max_entries]
                left = [one for one in old if (entry := _entry(one)) is not None and entry.cursor > upto] + left
            self.write(left)

    def write(self, records: list[Any]) -> None:
        """Replaces the file."""
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
        write_atomic(self.path, lines)

    def seed(self, entries: list[HistoryEntry]) -> None:
        """Begins with entries of an older form, all of them read already."""
        self.write([entry.record for entry in entries])
        if entries:
            write_atomic(self._counter, str(entries[-1].cursor))
            self.read_upto = entries[-1].cursor

    def _next(self) -> int:
        """The next cursor: above the counter and above the last line, or above all lines where that can't be used."""
        lines = self._lines()
        last = _cursor(_loaded(lines[-1])) if lines else None
        highest = last if last is not None else max((one.cursor for one in self.entries()), default=0)
        return max(highest, _number(self._counter) or 0) + 1

    def _records(self) -> list[Any]:
        found = [value for line in self._lines() if (value := _loaded(line)) is not None]
        if self._strict_lines:
            for value in found:
                value.get("cursor")
        return [value for value in found if isinstance(value, dict)]

    def _lines(self) -> list[str]:
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8", errors="replace")
        return [line for line in text.split("\n") if line.strip()]


def _is_shared(entry: HistoryEntry) -> bool:
    key = entry.session_key or ""
    return key not in INTERNAL_KEYS and not key.startswith(INTERNAL_PREFIXES)


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _cursor(record: Any) -> int | None:
    value = record.get("cursor") if isinstance(record, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _entry(record: Mapping[str, Any]) -> HistoryEntry | None:
    cursor, key = _cursor(record), record.get("session_key")
    timestamp, content = record.get("timestamp"), record.get("content")
    if cursor is None or not isinstance(timestamp, str) or not isinstance(content, str):
        return None
    if key is not None and not isinstance(key, str):
        return None
    return HistoryEntry(cursor=cursor, timestamp=timestamp, content=content, session_key=key)


def _number(path: Path) -> int | None:
    try:
        return max(0, int(path.read_text(encoding="utf-8").strip()))
    except (OSError, ValueError):
        return None
