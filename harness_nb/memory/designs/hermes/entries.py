"""One bounded file of entries: read, checked for edits by hand, and replaced as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.store.files import make_folder, read_text, write_atomic
from harness_nb.store.locks import locked

DELIMITER = "\n§\n"
"""Stands between two entries, and counts toward the limit."""


def joined(entries: Sequence[str]) -> str:
    """Entries as a file holds them."""
    return DELIMITER.join(entries)


def parted(text: str) -> list[str]:
    """The entries of a file, blank ones left out."""
    return [entry.strip() for entry in text.split(DELIMITER) if entry.strip()]


class EntryFile:
    """A file of entries, with a limit on its length.

    Args:
        path: Where it is. Nothing is made before the first write.
        limit: Most characters.
        clock: Dates the copies of files that were edited by hand.
        clean: Masks keys in what is written.
    """

    def __init__(self, path: Path, limit: int, clock: Clock, clean: Callable[[str], str] = str) -> None:
        self.path = path
        self.limit = limit
        self._clock = clock
        self._clean = clean

    def read(self) -> list[str]:
        """The entries, equal ones once.

        Raises:
            StoreError: The file can't be read.
        """
        return list(dict.fromkeys(parted(read_text(self.path) or "")))

    def write(self, entries: Sequence[str]) -> None:
        """Replaces the entries.

        Raises:
            StoreError: The file can't be written.
        """
        write_atomic(self.path, self._clean(joined(entries)))

    @contextmanager
    def changing(self) -> Iterator[list[str]]:
        """Holds the file's lock around a change of the entries that it gives.

        Raises:
            StoreError: It stays locked.
        """
        make_folder(self.path.parent)
        with locked(self.path):
            yield self.read()

    def drifted(self) -> Path | None:
        """A copy of the file where it was edited by hand so that a change could lose something; else None.

        Raises:
            StoreError: The copy can't be written.
        """
        text = read_text(self.path) or ""
        entries = parted(text)
        if joined(entries) == text.strip() and all(len(entry) <= self.limit for entry in entries):
            return None
        stamp = self._clock.now().strftime("%Y%m%d-%H%M%S-%f")
        copy = self.path.with_name(f"{self.path.name}.{stamp}.bak")
        write_atomic(copy, text)
        return copy
