"""Folders for memory cases: a workspace with files as recorded, a clock that stands, and what is left at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from harness_nb.agent.runner import runner
from harness_nb.core.clock import Clock
from harness_nb.core.config import MemoryConfig
from harness_nb.lab.conformance.driving import START
from harness_nb.memory.designs.base import DesignParts
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace


@contextmanager
def folder(
    files: Mapping[str, str] | None = None,
    *,
    answers: Sequence[Any] = (),
    now: datetime = START,
    config: MemoryConfig | None = None,
) -> Iterator[DesignParts]:
    """A workspace in a temporary folder, which is gone afterwards, and what a memory design is made from.

    Args:
        files: Texts by name in the workspace.
        answers: Replies of the model as `ScriptedModel` takes them; the last repeats.
        now: The time of its clock, aware.
        config: Settings that all memory designs share.
    """
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as parent:
        workspace = Workspace(Path(parent) / "workspace", clock=Clock.fixed(now))
        workspace.ensure()
        for name, text in (files or {}).items():
            write_exact(workspace.path / name, text)
        index = MemoryIndex.of(workspace)
        model = ScriptedModel(list(answers), repeat_last=True)
        try:
            yield DesignParts(
                workspace=workspace, index=index, model=model, config=config or MemoryConfig(), run=runner.wait
            )
        finally:
            index.close()


def write_exact(path: Path, text: str) -> None:
    """Writes a file as recorded, no line end changed, and makes its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def files_in(place: Path) -> dict[str, str]:
    """The texts of the files below a folder, by name; hidden ones are passed over."""
    found = (path for path in sorted(place.rglob("*")) if path.is_file())
    names = {path: path.relative_to(place) for path in found}
    return {
        name.as_posix(): path.read_bytes().decode("utf-8", "replace")
        for path, name in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }
