"""Where Gemini CLI's memory lies below a workspace, and which of its files may be written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness_nb.errors import StoreError
from harness_nb.memory.designs.gemini_cli.config import DEFAULT_NAME, GeminiCliMemoryConfig
from harness_nb.memory.designs.namespaces import canonical, namespace
from harness_nb.store.workspace import Workspace

_FOLDER = "gemini"
INDEX_NAME = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class Places:
    """The files of the tiers.

    Attributes:
        workspace: Holds all that is written.
        names: Names of context files.
        global_file: The user's own context file, for all projects.
        private_folder: The user's notes on this project, an index and files beside it.
        roots: Folders of the project, the first its own.
    """

    workspace: Workspace
    names: tuple[str, ...]
    global_file: Path
    private_folder: Path
    roots: tuple[Path, ...]

    @property
    def index_file(self) -> Path:
        """The index of the private notes."""
        return self.private_folder / INDEX_NAME

    @property
    def inbox_folder(self) -> Path:
        """Where changes wait for a person."""
        return self.private_folder / ".inbox"

    def name(self, path: Path) -> str:
        """How a file is named to the model: relative to the workspace where it lies there."""
        return self.workspace.relative(path) if path.is_relative_to(self.workspace.path) else str(path)

    def is_private(self, path: Path) -> bool:
        """Whether a path is a Markdown file directly in the private folder, and not hidden."""
        return path.parent == self.private_folder and path.suffix == ".md" and not path.name.startswith(".")

    def kind(self, path: Path) -> str:
        """The tier of a file that may be written: `private`, `global` or `project`; empty for every other file."""
        if self.is_private(path):
            return "private"
        if path == self.global_file:
            return "global"
        is_below = path.is_relative_to(self.workspace.path) and not path.is_relative_to(self.workspace.path / _FOLDER)
        return "project" if is_below and path.name in self.names else ""

    def writable(self, name: str) -> Path:
        """The path of a file that the model may write.

        Raises:
            StoreError: It leads out of the workspace, or is no file of the memory.
        """
        path = self.workspace.resolve(name)
        if not self.kind(path):
            private, own = self.workspace.relative(self.private_folder), self.workspace.relative(self.global_file)
            raise StoreError(
                f"{name!r} is no file of the memory.",
                f"Write Markdown files in {private}/, {own}, or a {DEFAULT_NAME} of the project.",
                subject=name,
            )
        return path


def places_of(workspace: Workspace, settings: GeminiCliMemoryConfig) -> Places:
    """The files of the tiers, for the working directory."""
    project = namespace(os.getcwd())
    folder = workspace.resolve("/".join((_FOLDER, "tmp", project, "memory")))
    own = workspace.path if settings.project_root is None else Path(canonical(settings.project_root))
    others = tuple(Path(canonical(one)) for one in settings.include_directories)
    return Places(
        workspace=workspace,
        names=settings.names,
        global_file=workspace.resolve(f"{_FOLDER}/{DEFAULT_NAME}"),
        private_folder=folder,
        roots=(own, *others),
    )
