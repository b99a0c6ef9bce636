"""How often each topic file was put into a prompt: one small JSON file beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.memory.designs.openharness.schema import Note
from harness_nb.store.files import read_text, write_atomic
from harness_nb.store.locks import locked

_NAME = "usage_index.json"


class Usage:
    """The counts of one folder.

    Args:
        folder: Where the topic files lie.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def counts(self) -> dict[str, int]:
        """How often each note was used, by id; nothing where the file can't be read."""
        found = {}
        for key, entry in self._entries().items():
            count = entry.get("use_count") if isinstance(entry, dict) else None
            if isinstance(count, int):
                found[key] = count
        return found

    def used(self, notes: Iterable[Note], now: datetime) -> None:
        """Counts one more use of some notes; those without an id are never counted.

        Raises:
            StoreError: The file can't be written.
        """
        known = [note for note in notes if note.id]
        if not known:
            return
        with locked(self._path):
            entries, counts = self._entries(), self.counts()
            time = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            for note in known:
                entries[note.id] = {"last_used_at": time, "use_count": counts.get(note.id, 0) + 1, "path": note.file}
            write_atomic(
                self._path, json.dumps({"version": 1, "memories": entries}, ensure_ascii=False, indent=2) + "\n"
            )

    def _entries(self) -> dict[str, Any]:
        try:
            found = json.loads(read_text(self._path) or "{}")
        except ValueError:
            return {}
        entries = found.get("memories") if isinstance(found, dict) else None
        return dict(entries) if isinstance(entries, dict) else {}
