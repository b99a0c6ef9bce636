"""What the README shows is what a reader can do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from harness_nb import presets
from harness_nb.cli.kernel import run_notebook

PROJECT = Path(__file__).parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
TEST_COMMAND = "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest"
DEMO_COMMAND = "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/harness-nb demo"


def blocks(language: str) -> list[str]:
    """The code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def write_session(path: Path) -> None:
    """A recorded conversation of 40,000 tokens or so."""
    with path.open("w", encoding="utf-8") as file:
        for at in range(40):
            question = {"role": "user", "content": f"Measure sample {at}."}
            answer = {"role": "assistant", "content": f"Sample {at} has an intensity of {at * 7}. " * 100}
            file.write(f"{json.dumps(question)}\n{json.dumps(answer)}\n")


def test_the_two_commands_stand_on_a_line_each() -> None:
    lines = README.splitlines()
    assert lines.count(DEMO_COMMAND) == 1
    assert lines.count(TEST_COMMAND) == 1


def test_the_python_of_the_readme_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    write_session(Path("session.jsonl"))
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks("python"), start=1):
        exec(compile(block, f"README.md, block {number}", "exec"), names)  # noqa: S102
    presets.unregister("keep-eight")
    assert "Mira is responsible for it" in capsys.readouterr().out
    assert names["run"].policy == "keep-eight"
    assert names["run"].compactions


@pytest.mark.notebook
def test_the_cells_of_the_readme_run_in_a_kernel(tmp_path: Path) -> None:
    last = new_code_cell("%memory search microscope")
    notebook = new_notebook(cells=[*map(new_code_cell, blocks("ipython")), last])
    run_notebook(notebook, tmp_path)
    assert "Heron" in notebook.cells[-1].outputs[-1].data["text/plain"]


def test_the_files_that_the_readme_names_are_there_and_its_pictures_are_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    for name in (*pictures, "harness_nb/__init__.py", "tests/benchmarks/import_time.py", ".ci/run"):
        assert (PROJECT / name).is_file(), name
    assert all((PROJECT / name).stat().st_size < 200_000 for name in pictures)


def test_the_readme_names_every_command() -> None:
    from harness_nb.cli import main

    for command in ("demo", "lab", "doctor"):
        assert command in main.commands
        assert f"harness-nb {command}" in README
