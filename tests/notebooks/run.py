"""Runs the notebooks of the project as they are stored, and writes their outputs back.

    python -m tests.notebooks.run            says which outputs differ from the stored ones; exit code 1 when any does
    python -m tests.notebooks.run --write    stores the outputs

The clock stands still, nobody watches, and the files of an agent lie in a temporary folder, so each run gives the same.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat

from harness_nb.cli.kernel import run_notebook

PROJECT = Path(__file__).parent.parent.parent
FOLDER = PROJECT / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
STILL = {"HARNESS_NB_NOW": "2026-04-12T09:30:00+00:00", "HARNESS_NB_OFFLINE": "1"}


def executed(path: Path) -> nbformat.NotebookNode:
    """A stored notebook after a run from a clean kernel."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory(prefix="hnb-") as folder:
        run_notebook(notebook, Path(folder), variables=STILL)
    notebook.metadata.pop("language_info", None)  # names the Python that it ran on
    return notebook


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The notebook as it is stored."""
    return nbformat.writes(notebook) + "\n"


def main(arguments: list[str]) -> int:
    """Runs all notebooks; `--write` stores what they give."""
    differ = 0
    for path in NOTEBOOKS:
        text = text_of(executed(path))
        is_same = text == path.read_text(encoding="utf-8")
        if not is_same and "--write" in arguments:
            path.write_text(text, encoding="utf-8")
        differ += not is_same
        print(f"{path.relative_to(PROJECT)}: {'same' if is_same else 'differs'}")
    return 1 if differ and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
