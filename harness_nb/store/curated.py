"""MEMORY.md, the curated memory: read whole, replaced whole, the version before it kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.errors import StoreError
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.locks import locked
from harness_nb.store.names import short_hash

FILE_NAME = "MEMORY.md"


class Curated:
    """The curated memory of one workspace.

    Args:
        folder: The workspace's folder.
        clock: The time that names a version.
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
            moment = self._clock.now().strftime("%Y%m%dT%H%M%S%f")
            write_atomic(self.versions_folder / f"MEMORY-{moment}-{short_hash(before)}.md", before)
        write_atomic(self.path, text)

    def versions(self) -> list[Path]:
        """The files of the versions before, oldest first."""
        return sorted(self.versions_folder.glob("MEMORY-*.md"))
