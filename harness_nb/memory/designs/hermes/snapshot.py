"""What stands of the stores in the prompt: read once when a session begins, and frozen from then on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness_nb.memory.designs.hermes.entries import EntryFile, joined
from harness_nb.memory.designs.hermes.scan import threat_in

_RULE = "=" * 46
_TITLES = {"memory": "MEMORY (what you wrote down)", "user": "USER (who you are working for)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One store as the prompt shows it.

    Attributes:
        target: Which.
        entries: Its entries; one that the scan stops is a mark.
        limit: Most characters of the store.
    """

    target: str
    entries: tuple[str, ...]
    limit: int

    @property
    def used(self) -> int:
        """Characters in use."""
        return len(joined(self.entries))

    @property
    def percent(self) -> int:
        """Part of the limit that is in use, 0 to 100."""
        return min(100, self.used * 100 // self.limit) if self.limit else 100

    @property
    def text(self) -> str:
        """The block; empty where there is no entry."""
        if not self.entries:
            return ""
        title = f"{_TITLES[self.target]} [{self.percent}% - {self.used:,}/{self.limit:,} chars]"
        return f"{_RULE}\n{title}\n{_RULE}\n{joined(self.entries)}"


def snapshot(target: str, file: EntryFile, scans: Callable[[str], str] = threat_in) -> Snapshot:
    """Reads a store.

    Raises:
        StoreError: The file can't be read.
    """
    shown = (_marked(entry, scans(entry)) for entry in file.read())
    return Snapshot(target=target, entries=tuple(shown), limit=file.limit)


def _marked(entry: str, pattern: str) -> str:
    return (
        f"[BLOCKED: an entry is not shown, as it reads like {pattern}. Remove it with the memory tool.]"
        if pattern
        else entry
    )
