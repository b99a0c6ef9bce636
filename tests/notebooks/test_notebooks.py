"""The notebooks are documentation that runs: from a clean kernel, offline, with the outputs that are stored."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks.run import NOTEBOOKS, PROJECT, STILL, executed, text_of

MOST_BYTES = 200_000
KEY = re.compile(r"\b(sk-[\w-]{16,}|ghp_\w{20,}|AKIA[0-9A-Z]{16})|PRIVATE KEY-----")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|Users|private|var)/|[A-Z]:\\\\Users")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def load(path: Path) -> nbformat.NotebookNode:
    """The stored notebook."""
    return nbformat.read(path, as_version=4)


def tags(cell: Any) -> list[str]:
    """The tags of a cell."""
    return list(cell.metadata.get("tags", ()))


def texts(notebook: nbformat.NotebookNode) -> list[tuple[str, list[str]]]:
    """Id of each code cell, and its outputs as text."""
    return [
        (cell.id, [output.get("text") or output.data["text/plain"] for output in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_is_a_quickstart() -> None:
    assert "00_quickstart" in {path.stem for path in NOTEBOOKS}


@each_notebook
def test_a_notebook_is_valid_and_small(path: Path) -> None:
    nbformat.validate(load(path))
    assert path.stat().st_size < MOST_BYTES


@each_notebook
def test_a_notebook_has_its_outputs_and_no_widget_state(path: Path) -> None:
    notebook = load(path)
    assert "widgets" not in notebook.metadata
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert not any("widget" in kind for kind in kinds)


@each_notebook
def test_no_cell_of_a_notebook_has_failed_or_warned(path: Path) -> None:
    outputs = [output for cell in load(path).cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


@each_notebook
def test_a_notebook_holds_no_key_and_no_path_of_its_authors_computer(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert KEY.findall(text) == []
    assert ABSOLUTE_PATH.findall(text) == []
    assert str(PROJECT) not in text


@each_notebook
def test_the_parameters_are_plain_literals_before_anything_is_loaded(path: Path) -> None:
    code = [cell for cell in load(path).cells if cell.cell_type == "code"]
    assert tags(code[0]) == ["parameters"]
    assigned = ast.parse(code[0].source).body
    assert all(isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) for one in assigned)


@each_notebook
def test_a_notebook_ends_in_assertions_that_a_reader_does_not_see(path: Path) -> None:
    last = load(path).cells[-1]
    assert {"remove-cell", "test"} <= set(tags(last))
    assert "assert " in last.source


@pytest.mark.notebook
@each_notebook
def test_r107_a_notebook_gives_what_is_stored(path: Path) -> None:
    assert texts(executed(path)) == texts(load(path))


@pytest.mark.slow
@pytest.mark.notebook
@each_notebook
def test_r107_a_notebook_gives_the_same_on_each_run_byte_for_byte(path: Path) -> None:
    assert text_of(executed(path)) == text_of(executed(path))


@pytest.mark.notebook
@each_notebook
def test_r107_a_notebook_passes_nbval_strict(path: Path, tmp_path: Path) -> None:
    options = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={PROJECT}"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(path)],
        env={**os.environ, **STILL, "HARNESS_NB_STATIC": "1"},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stdout[-3_000:]
