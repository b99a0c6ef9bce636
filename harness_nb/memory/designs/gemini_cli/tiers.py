"""What of the tiers stands in the model input, and what comes with a file that was touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness_nb.core.blocks import block
from harness_nb.errors import StoreError
from harness_nb.memory.designs.gemini_cli.config import GeminiCliMemoryConfig
from harness_nb.memory.designs.gemini_cli.discovery import FileId, boundary, file_id, project_files, touched_files
from harness_nb.memory.designs.gemini_cli.imports import Imports
from harness_nb.memory.designs.gemini_cli.places import Places
from harness_nb.store.files import read_text


@dataclass(frozen=True, slots=True)
class Shown:
    """One context file as it is shown.

    Attributes:
        tier: `global`, `private` or `project`.
        path: The file, as the model knows it.
        text: Its text, with what it names.
    """

    tier: str
    path: str
    text: str

    def __str__(self) -> str:
        """The text below its path."""
        return f"--- {self.path} ({self.tier}) ---\n{self.text}"


@dataclass(eq=False)
class Tiers:
    """The context files of a session, and which were shown already.

    Attributes:
        places: Where they lie.
        settings: Names, markers and trust.
        seen: The files that were shown in this session.
    """

    places: Places
    settings: GeminiCliMemoryConfig
    seen: set[FileId] = field(default_factory=set)

    def load(self) -> tuple[Shown, ...]:
        """All files that are shown from the beginning: the user's own, the private index, and the project's.

        Raises:
            StoreError: A file can't be read.
        """
        self.seen.clear()
        own = [("global", self.places.global_file), ("private", self.places.index_file)]
        project = [("project", path) for root in self._roots() for path in self._of(root)]
        return tuple(self._shown([*own, *project]))

    def touched(self, path: Path) -> str:
        """The context files that hold for a file and were not shown yet, in a marked block; empty for none.

        What goes wrong costs the block only.
        """
        if not self.settings.is_trusted:
            return ""
        try:
            found = touched_files(path, self.places.roots, self.places.names, self._markers)
            shown = list(self._shown(("sub-directory", one) for one in found))
        except (OSError, StoreError):
            return ""
        return block("memory", "\n\n".join(map(str, shown))) if shown else ""

    def _roots(self) -> tuple[Path, ...]:
        if not self.settings.is_trusted:
            return ()
        return self.places.roots if self.settings.load_memory_from_include_directories else self.places.roots[:1]

    def _of(self, root: Path) -> list[Path]:
        return project_files(root, self.places.names, self._markers)

    @property
    def _markers(self) -> tuple[str, ...]:
        """Names that mark a boundary; none where the workspace is the project, as nothing above it is read then."""
        return () if self.settings.project_root is None else self.settings.memory_boundary_markers

    def _shown(self, files: Iterable[tuple[str, Path]]) -> Iterator[Shown]:
        """The files that are there, each once."""
        for tier, path in files:
            if not path.is_file() or file_id(path) in self.seen:
                continue
            self.seen.add(file_id(path))
            text = self._imports(tier, path).shown(path, self.settings.import_format)
            if text.strip():
                yield Shown(tier, self.places.name(path), text.strip())

    def _imports(self, tier: str, path: Path) -> Imports:
        """What a file may name: files of its own project, or of the folder that it lies in."""
        around = [root for root in self.places.roots if path.is_relative_to(root)] if tier != "private" else []
        folder = path.parent if tier in ("global", "private") or not around else around[0]
        return Imports(boundary(folder, self._markers) if around else folder, read_text)
