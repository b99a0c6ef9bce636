"""MEMORY.md, the curated memory: read whole, replaced whole, the version before it kept to be restored."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.errors import StoreError
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.locks import locked

FILE_NAME = "MEMORY.md"

_VERSION = re.compile(r"MEMORY-(\d{5,})-(\d{8}T\d{6}Z)\.md")
_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Version:
    """A MEMORY.md as it was before a replacement.

    Attributes:
        number: Names it, from 1, in the order of replacements.
        time: When it was replaced, UTC, to the second.
        path: Its file.
    """

    number: int
    time: datetime
    path: Path


class Curated:
    """The curated memory of one workspace.

    Args:
        folder: The workspace's folder.
        clock: The time in the name of a version.
        clean: Makes a text such as may be written.
    """

    def __init__(self, folder: Path, *, clock: Clock, clean: Callable[[str], str]) -> None:
        self.path = folder / FILE_NAME
        self.versions_folder = folder / "memory" / "versions"
        self._clock = clock
        self._clean = clean

    def read(self) -> str:
        """The text, empty when there is no file.

        Raises:
            StoreError: The file is there and can't be read.
        """
        return read_text(self.path) or ""

    def replace(self, text: str) -> None:
        """Replaces the text; the one before it is kept as a version.

        Raises:
            StoreError: The new text is blank, or the file can't be written.
        """
        self.change(lambda _: text)

    def change(self, edit: Callable[[str], str]) -> None:
        """Replaces the text by what `edit` makes of it; nobody else writes in between.

        Raises:
            StoreError: The new text is blank, or the file can't be written.
        """
        try:
            make_folder(self.path.parent)
            with locked(self.path):
                self._replace(self.read(), edit)
        except OSError as error:
            raise unusable(self.path, "write", error) from error

    def _replace(self, before: str, edit: Callable[[str], str]) -> None:
        text = self._clean(edit(before))
        if not text.strip():
            raise StoreError(
                f"{FILE_NAME} can't be replaced by an empty text.",
                "Delete the file yourself if nothing in it is wanted any more.",
                subject=self.path,
            )
        if text == before:
            return
        if before.strip():
            self._keep(before)
        write_atomic(self.path, text)

    def _keep(self, text: str) -> None:
        known = self.versions()
        if known and read_text(known[-1].path) == text:  # kept by a replacement that did not get to its end
            return
        number = known[-1].number + 1 if known else 1
        stamp = self._clock.now().astimezone(UTC).strftime(_STAMP)
        write_atomic(self.versions_folder / f"MEMORY-{number:05}-{stamp}.md", text)

    def versions(self) -> list[Version]:
        """The versions before, oldest first."""
        found = map(_version, self.versions_folder.glob("MEMORY-*.md"))
        return sorted((one for one in found if one is not None), key=lambda one: one.number)

    def version(self, number: int) -> str:
        """The text of a version.

        Raises:
            StoreError: There is no such version, or its file can't be read.
        """
        known = self.versions()
        for one in known:
            if one.number == number and (text := read_text(one.path)) is not None:
                return text
        there = f"from {known[0].number} to {known[-1].number}" if known else "none"
        raise StoreError(
            f"There is no version {number!r} of {FILE_NAME}.", f"Kept: {there}. See versions().", subject=number
        )

    def restore(self, number: int) -> None:
        """Makes a version the text again; the one that it replaces is kept as a version, too.

        Raises:
            StoreError: There is no such version, or a file can't be read or written.
        """
        self.replace(self.version(number))


def _version(path: Path) -> Version | None:
    """The version that a file holds, None when its name is none."""
    found = _VERSION.fullmatch(path.name)
    if found is not None:
        with suppress(ValueError):
            return Version(int(found[1]), datetime.strptime(found[2], _STAMP).replace(tzinfo=UTC), path)
    return None
