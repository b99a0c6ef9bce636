from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from harness_nb.cli.kernel import NotebookFailed, answer, ask_kernel, run_notebook, with_parameters

pytestmark = pytest.mark.notebook


def test_a_notebook_runs_on_this_interpreter_in_the_folder_given(tmp_path: Path) -> None:
    notebook = new_notebook(
        cells=[new_code_cell("import os, sys"), new_code_cell("print(sys.executable, os.getcwd())")]
    )
    run_notebook(notebook, tmp_path)
    assert notebook.cells[1].outputs[0].text == f"{sys.executable} {tmp_path.resolve()}\n"


def test_a_kernel_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place / "cwd"))
    (place / "cwd").mkdir(exist_ok=True)
    run_notebook(new_notebook(cells=[new_code_cell("1")]), tmp_path)
    assert list((place / "cwd").iterdir()) == []


def test_progress_counts_the_cells(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    cells = [new_code_cell("1"), new_markdown_cell("text"), new_code_cell("2")]
    run_notebook(new_notebook(cells=cells), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (3, 3)]


def test_displays_stand_still_and_variables_reach_the_kernel(tmp_path: Path) -> None:
    code = "import os\nprint(os.environ['HARNESS_NB_STATIC'], os.environ['MINE'])"
    notebook = new_notebook(cells=[new_code_cell(code)])
    run_notebook(notebook, tmp_path, variables={"MINE": "yes"})
    assert notebook.cells[0].outputs[0].text == "1 yes\n"


def test_a_cell_that_fails_is_named_with_what_to_do(tmp_path: Path) -> None:
    fails = "from harness_nb import presets\npresets.get('harnes')"
    with pytest.raises(NotebookFailed) as caught:
        run_notebook(new_notebook(cells=[new_markdown_cell("text"), new_code_cell(fails)]), tmp_path)
    assert caught.value.problem == "Cell 2 failed with ConfigError: There is no preset 'harnes'."
    assert caught.value.remedy == "Did you mean 'harness'?"


def test_a_kernel_that_ends_is_said_to_have_ended(tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed, match="The kernel ended"):
        run_notebook(new_notebook(cells=[new_code_cell("import os\nos._exit(1)")]), tmp_path)


def test_parameters_are_set_after_the_cell_that_is_tagged() -> None:
    notebook = new_notebook(
        cells=[new_markdown_cell("text"), new_code_cell("a = 1", metadata={"tags": ["parameters"]}), new_code_cell("a")]
    )
    given = with_parameters(notebook, {"a": 2, "b": "it's"})
    assert [cell.source for cell in given.cells] == ["text", "a = 1", 'a = 2\nb = "it\'s"', "a"]
    assert given.cells[2].metadata.tags == ["injected-parameters"]
    assert len(notebook.cells) == 3


def test_without_parameters_a_notebook_stays_as_it_is() -> None:
    notebook = new_notebook(cells=[new_code_cell("a = 1")])
    assert with_parameters(notebook, {}) == notebook


def test_a_kernel_answers_with_json_and_the_cell_is_gone(tmp_path: Path) -> None:
    notebook = new_notebook(cells=[new_code_cell("x = 2")])
    ask_kernel(notebook, "y = x * 2", "{'sum': x + y}")
    run_notebook(notebook, tmp_path)
    assert answer(notebook) == {"sum": 6}
    assert len(notebook.cells) == 1


def test_a_kernel_that_was_not_asked_has_no_answer() -> None:
    notebook = new_notebook()
    ask_kernel(notebook, "pass", "1")
    assert answer(notebook) is None
