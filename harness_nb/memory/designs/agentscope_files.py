"""AgentScope's two layers as it writes them, without our safeguards: what recordings are compared with.

A reply is stored as it comes, a watermark is the time of a run, and what can't be written is lost. Live, the preset
`agentscope` keeps the same two layers by `TwoLayers`, which has safeguards for all of that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from harness_nb.core.messages import Message
from harness_nb.errors import StoreError
from harness_nb.memory.designs.agentscope_text import Numbered, Written, instant, nanoseconds, written
from harness_nb.store.files import make_folder, read_text, write_atomic

CURATED = "MEMORY.md"
STATE = "memory/.consolidation_state"
NOTHING = "NO_REPLY"
SENTINEL = "[The file is there, but it is empty.]"
"""What its file reader gives for a blank file, and takes for the file's text everywhere."""

RETENTION_DAYS = 90
SESSION_RETENTION_DAYS = 180
MAX_HITS = 30
MIN_GAP_SECONDS = 1_800.0
MAX_MEMORY_TOKENS = 4_000

FLUSH_PROMPT = (
    "Write down what deserves to be remembered from the conversation below, as a Markdown list of facts that can each be "
    "understood alone, with names and dates. You write to today's log; do not repeat what MEMORY.md or the log says. When "
    "there is nothing, answer NO_REPLY."
)
CONSOLIDATION_PROMPT = (
    "You keep MEMORY.md. Merge the new log entries into it: lasting knowledge only, by topic, newer facts replace older "
    "ones. Stay below {tokens} tokens, about {chars} characters. Answer with the whole new file."
)

_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
_DAY_FILE = re.compile(r"(\d{4}-\d\d-\d\d)\.md")


class FlushRequest(NamedTuple):
    """What a flush sends.

    Attributes:
        messages: The request.
        conversation: The conversation in it.
        has_memory: Whether MEMORY.md is shown.
        has_log: Whether today's log is shown.
    """

    messages: tuple[Message, ...]
    conversation: Written
    has_memory: bool
    has_log: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """Log files that were changed after the last consolidation.

    Attributes:
        names: Their names, in order.
        entries: Their texts as sent.
        is_first: Whether there was no watermark.
    """

    names: tuple[str, ...]
    entries: str
    is_first: bool


class AgentScopeFiles:
    """The files of one workspace.

    Args:
        folder: The workspace.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> str:
        """A file's text: empty where there is none, and a sentence where it is blank."""
        text = read_text(self.folder / name)
        return "" if text is None else text if text.strip() else SENTINEL

    # Flush

    def flush_request(self, messages: Sequence[Numbered], day: str) -> FlushRequest | None:
        """The request for facts; None when there is nothing to show."""
        talk = written(messages)
        if not talk.text.strip():
            return None
        memory, log = self.read(CURATED), self.read(_log(day))
        parts = [f"MEMORY.md, to compare with:\n{memory}"] if memory else []
        parts += [f"Today's log, written already:\n{log}"] if log else []
        asked = Message.user("\n\n".join([*parts, f"The conversation:\n{talk.text}"]), origin="harness")
        return FlushRequest((Message.system(FLUSH_PROMPT), asked), talk, bool(memory), bool(log))

    def store_facts(self, reply: str, day: str, now: str) -> str:
        """Appends a reply to a day's log as it is, and returns what was appended; empty for nothing.

        Args:
            reply: The model's text.
            day: Local date of the file.
            now: Instant of the heading, in UTC.
        """
        if not reply.strip() or reply.strip() == NOTHING:
            return ""
        name = _log(day)
        addition = f"\n## Memory Flush \u2014 {now}\n{reply}\n"
        write_atomic(self.folder / name, self.read(name) + addition)
        return addition

    # Consolidation

    def watermark(self) -> str:
        """The stored instant; empty where there is none or it can't be read."""
        text = (read_text(self.folder / STATE) or "").strip()
        return text if nanoseconds(text) is not None else ""

    def fresh(self) -> Fresh:
        """Log files changed strictly after the watermark, blank ones left out."""
        mark = self.watermark()
        since = nanoseconds(mark) or 0
        found = [(path.name, (read_text(path) or "").strip()) for path in self._logs() if _changed(path) > since]
        texts = [(name, text) for name, text in found if text]
        entries = "".join(f"### {name}\n{text}\n\n" for name, text in texts)
        return Fresh(names=tuple(name for name, _ in texts), entries=entries, is_first=not mark)

    def consolidation_request(self, fresh: Fresh) -> tuple[Message, ...]:
        """The request for a new MEMORY.md."""
        told = CONSOLIDATION_PROMPT.format(tokens=MAX_MEMORY_TOKENS, chars=4 * MAX_MEMORY_TOKENS)
        since = "" if fresh.is_first else f" since {self.watermark()}"
        asked = f"MEMORY.md:\n{self.read(CURATED) or '(empty)'}\n\nNew entries{since}:\n\n{fresh.entries}"
        return Message.system(told), Message.user(asked, origin="harness")

    def store_memory(self, reply: str, now: int, write: Callable[[Path, str], None] = write_atomic) -> str:
        """Takes any text that is not blank as the new MEMORY.md; the watermark moves even where it can't be written.

        Args:
            reply: The model's text.
            now: Nanoseconds since 1970 at which the run began.
            write: Writes a file.

        Returns:
            `written`, `empty`, or `lost`: the file could not be written.
        """
        text, status = reply.strip(), "written"
        if not text:
            return "empty"
        try:
            write(self.folder / CURATED, text)
        except (OSError, StoreError):
            status = "lost"
        write_atomic(self.folder / STATE, instant(now))
        return status

    def _logs(self) -> list[Path]:
        return sorted(path for path in (self.folder / "memory").glob("*.md") if path.is_file())

    # Maintenance

    def expire(self, today: date, days: int = RETENTION_DAYS) -> tuple[list[str], list[str]]:
        """Moves old logs to the archive; returns names of the moved, and of those whose place there is taken."""
        moved, kept = [], []
        for path in self._logs():
            if (day := _day(path.name)) is None or day >= today - timedelta(days=days):
                continue
            target = path.parent / "archive" / path.name
            if target.exists():
                kept.append(path.name)
                continue
            make_folder(target.parent)
            path.rename(target)
            moved.append(path.name)
        return moved, kept

    def prune(self, now: int, days: int = SESSION_RETENTION_DAYS) -> list[str]:
        """Deletes old files of sessions, whatever they are; returns their names.

        Args:
            now: Nanoseconds since 1970.
            days: Age at which a file goes.
        """
        limit = now - days * 86_400 * 1_000_000_000
        files = sorted(path for path in self.folder.glob("agents/*/sessions/*") if path.is_file())
        old = [path for path in files if path.name != "sessions.json" and _changed(path) < limit]
        for path in old:
            path.unlink()
        return [path.relative_to(self.folder).as_posix() for path in old]

    # Search

    def search(self, query: str, limit: int = MAX_HITS) -> list[tuple[str, int, str, float]]:
        """Lines that hold every phrase of a query in text, path or line number: path, line, text, bm25 value.

        Args:
            query: Words divided by ASCII white space; each is a phrase.
            limit: Most hits.
        """
        import sqlite3

        phrases = [f'"{bare}"' for word in _SPACE.split(query) if (bare := word.replace('"', "")).strip()]
        if not phrases:
            return []
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE lines USING fts5(path, line_number, content)")
            connection.executemany("INSERT INTO lines VALUES (?, ?, ?)", self._rows())
            return connection.execute(
                "SELECT path, CAST(line_number AS INTEGER), content, rank FROM lines WHERE lines MATCH ? "
                "ORDER BY rank LIMIT ?",
                (" ".join(phrases), limit),
            ).fetchall()

    def _rows(self) -> list[tuple[str, str, str]]:
        """Curated memory and logs, then session logs as raw lines, each under its file's name."""
        sessions = sorted(self.folder.glob("agents/**/*.log.jsonl"))
        files = [(CURATED, self.folder / CURATED), *((f"memory/{path.name}", path) for path in self._logs())]
        files += [(path.relative_to(self.folder).as_posix(), path) for path in sessions]
        return [
            (name, str(number), line.strip())
            for name, path in files
            for number, line in enumerate((read_text(path) or "").split("\n"), 1)
            if line.strip()
        ]


class AgentScopeThrottle:
    """When a consolidation that was asked for may run: one that comes too early is forgotten.

    Args:
        min_gap_seconds: Least time since the last one began or, if it succeeded, ended.
    """

    def __init__(self, min_gap_seconds: float = MIN_GAP_SECONDS) -> None:
        self.min_gap_seconds = min_gap_seconds
        self._last: float | None = None

    def request(self, at: float) -> bool:
        """Whether one that is asked for may run now; then the slot is taken, also if it fails."""
        if self._last is not None and at - self._last < self.min_gap_seconds:
            return False
        self._last = at
        return True

    def succeeded(self, at: float) -> None:
        """Notes that one ended well, asked for or not."""
        self._last = at


def _log(day: str) -> str:
    return f"memory/{day}.md"


def _changed(path: Path) -> int:
    return os.stat(path).st_mtime_ns


def _day(name: str) -> date | None:
    found = _DAY_FILE.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
