"""Versions of the memory files: what they were before each change, and the way back."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.store.files import append_text, read_text

FILES = ("SOUL.md", "USER.md", "memory/MEMORY.md")
"""The files that a Dream run may change, below the workspace."""

DREAM_MARK = "dream:"
"""Begins the subject of a version that a Dream run made."""

FIRST_SUBJECT = "init: nanobot memory store"
MANUAL_SUBJECT = f"{DREAM_MARK} manual run"
SCHEDULED_SUBJECT = f"{DREAM_MARK} periodic memory consolidation"

_CURSOR = "memory/.dream_cursor"
_DIFF_CHARS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One version.

    Attributes:
        id: Names it.
        subject: Why it was made.
        body: What changed, from the files themselves; empty for the first.
        time: When, as ISO text.
        files: Text of each file by its path; one that is missing was not there.
    """

    id: str
    subject: str
    body: str
    time: str
    files: dict[str, str]


class MemoryVersions:
    """The versions of a workspace's memory files, oldest first, one JSON object a line.

    Args:
        folder: The workspace.
        clock: Gives the time.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._path = folder / "memory" / ".versions.jsonl"

    @property
    def exist(self) -> bool:
        """Whether there are versions at all."""
        return self._path.exists()

    def begin(self) -> None:
        """Makes the first version; files that are missing are made, empty."""
        if self.exist:
            return
        for name in FILES:
            if read_text(self._folder / name) is None:
                append_text(self._folder / name, "")
        self._add(FIRST_SUBJECT, "", {name: text for name, text in self._now().items() if name != _CURSOR})

    def all(self) -> list[MemoryVersion]:
        """All versions, oldest first."""
        lines = (read_text(self._path) or "").split("\n")
        return [MemoryVersion(**json.loads(line)) for line in lines if line.strip()]

    def changes(self) -> str:
        """What differs from the newest version, as text; empty for nothing, line ends left aside."""
        versions = self.all()
        if not versions:
            return ""
        before, now = versions[-1].files, self._now()
        counted, hunks, added, removed = [], [], 0, 0
        for name in FILES:
            lines = _difference(name, before.get(name, ""), now.get(name, ""))
            if not lines:
                continue
            more = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
            less = sum(line.startswith("-") and not line.startswith("---") for line in lines)
            counted.append(f"{name}: +{more} -{less}")
            hunks += lines
            added, removed = added + more, removed + less
        return _summary(counted, hunks, added, removed) if counted else ""

    def commit(self, subject: str) -> MemoryVersion | None:
        """Makes a version when a file's text changed; None when none did."""
        body = self.changes()
        return self._add(subject, body, self._now()) if body else None

    def dreams(self) -> list[MemoryVersion]:
        """The versions that Dream runs made, newest first."""
        return [one for one in reversed(self.all()) if one.subject.startswith(DREAM_MARK)]

    def restore(self, version: str, write: Callable[[str, str], object]) -> bool:
        """Puts the files back as they were before a Dream run, whatever came later, and makes a version of that.

        Args:
            version: Id of the run's version.
            write: Writes a file of the workspace.

        Returns:
            False when there is no such run.
        """
        versions = self.all()
        at = next((at for at, one in enumerate(versions) if one.id == version), 0)
        if not at or not versions[at].subject.startswith(DREAM_MARK):
            return False
        for name, text in versions[at - 1].files.items():
            write(name, text)
        body = self.changes()
        self._add(f"revert: undo {version}", body, self._now())
        return True

    def _now(self) -> dict[str, str]:
        found = {name: read_text(self._folder / name) for name in (*FILES, _CURSOR)}
        return {name: text for name, text in found.items() if text is not None}

    def _add(self, subject: str, body: str, files: dict[str, str]) -> MemoryVersion:
        time = self._clock.now().isoformat()
        known = f"{len(self.all())}\n{time}\n{json.dumps(files, sort_keys=True)}"
        made = MemoryVersion(
            id=hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:8],
            subject=subject,
            body=body,
            time=time,
            files=files,
        )
        record = {name: getattr(made, name) for name in ("id", "subject", "body", "time", "files")}
        append_text(self._path, json.dumps(record, ensure_ascii=False) + "\n")
        return made


def _difference(name: str, before: str, now: str) -> list[str]:
    """A unified diff; empty when only line ends differ."""
    if before.replace("\r\n", "\n") == now.replace("\r\n", "\n"):
        return []
    return list(difflib.unified_diff(before.splitlines(), now.splitlines(), fromfile=name, tofile=name, lineterm=""))


def _summary(counted: list[str], hunks: list[str], added: int, removed: int) -> str:
    diff = "\n".join(hunks)
    diff = diff if len(diff) <= _DIFF_CHARS else f"{diff[:_DIFF_CHARS]}\n...[diff truncated]"
    total = f"{len(counted)} {_noun('file', len(counted))} changed, {added} {_noun('insertion', added)}(+), "
    total += f"{removed} {_noun('deletion', removed)}(-)"
    return "\n".join([*counted, "", total, "", "```diff", diff, "```"])


def _noun(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
