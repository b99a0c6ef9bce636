"""Bad input in a cell and in a script: it fails, in few lines that name the value and say what to do, and harms no file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from harness_nb.cli.kernel import NotebookFailed, run_notebook

pytestmark = pytest.mark.notebook

MOST_LINES = 3
CORRUPT = '{"role": "user", "content": "hel'
FILES = {
    "corrupt.jsonl": f"{CORRUPT}\n",
    "binary.jsonl": "\x00\x01\x02\n",
    "file": "not a folder\n",
    "ws/MEMORY.md": "- Mira is responsible for the microscope.\n",
    "ws/memory/2026-04-11.md": "# 2026-04-11\n\n- The stage is warmed to 37 °C.\n",
}


@dataclass(frozen=True, kw_only=True)
class Bad:
    """One kind of bad input.

    Attributes:
        about: What is wrong.
        cell: The last cell of a notebook in which the extension is loaded.
        script: Arguments of `harness-nb`, or lines of Python.
        names: The value that must be named.
        says: A word of what to do.
        adds: Whether files may be added: what was said in a turn that failed stays in its session.
    """

    about: str
    cell: str
    script: Sequence[str] | str
    names: str
    says: str
    adds: bool = False


CASES = (
    Bad(
        about="unknown model",
        cell="%agent new --model nobody/knows-it",
        script=("demo", "--model", "nobody/knows-it"),
        names="'nobody/knows-it'",
        says="Give ",
    ),
    Bad(
        about="unknown preset",
        cell="%agent new --preset harnes",
        script=("demo", "--preset", "harnes"),
        names="'harnes'",
        says="Did you mean 'harness'?",
    ),
    Bad(
        about="unknown option",
        cell="%agent new --presett harness",
        script=("demo", "--presett", "harness"),
        names="--presett",
        says="--preset",
    ),
    Bad(
        about="unknown setting",
        cell="from harness_nb import presets\npresets.get('harness', trigger_mesages=9)",
        script="presets.get('harness', trigger_mesages=9)",
        names="'trigger_mesages'",
        says="Did you mean 'trigger_messages'?",
    ),
    Bad(
        about="value of a setting that is not valid",
        cell="%agent new --window -5",
        script=("demo", "--window", "-5"),
        names="-5",
        says="above 0",
    ),
    Bad(
        about="corrupt line in a transcript",
        cell="from harness_nb import read_transcript\nread_transcript('corrupt.jsonl')",
        script=("demo", "--transcript", "corrupt.jsonl"),
        names="'corrupt.jsonl'",
        says="Check whether the file is complete",
    ),
    Bad(
        about="transcript that is not text",
        cell="from harness_nb import read_transcript\nread_transcript('binary.jsonl')",
        script=("demo", "--transcript", "binary.jsonl"),
        names="'binary.jsonl'",
        says="Give ",
    ),
    Bad(
        about="transcript that is not there",
        cell="from harness_nb import read_transcript\nread_transcript('nowhere.jsonl')",
        script=("demo", "--transcript", "nowhere.jsonl"),
        names="'nowhere.jsonl'",
        says="Correct the path",
    ),
    Bad(
        about="empty cell",
        cell="%%agent\n  \n",
        script="HarnessAgent(workspace='ws').ask('  ')",
        names="empty",
        says="Write ",
        adds=True,
    ),
    Bad(
        about="missing key",
        cell="%%agent --model openai/gpt-4o\nHello",
        script=("demo", "--model", "openai/gpt-4o", "--out", "out"),
        names="openai/gpt-4o",
        says="OPENAI_API_KEY",
        adds=True,
    ),
    Bad(
        about="workspace below a file",
        cell="%agent new --workspace file/ws",
        script="HarnessAgent(workspace='file/ws')",
        names="file/ws'",
        says="choose another",
    ),
    Bad(
        about="workspace that is a file",
        cell="%agent new --workspace file",
        script="HarnessAgent(workspace='file')",
        names="file'",
        says="choose another",
    ),
)

SCRIPT = """\
import sys
from harness_nb import HarnessAgent, HarnessError, presets, read_transcript
try:
    {line}
except HarnessError as error:
    sys.exit(str(error))
"""


def in_cell(bad: Bad) -> str:
    """The error that a reader of the notebook sees."""
    loads = "%load_ext harness_nb\n%config HarnessMagics.workspace = 'ws'"
    notebook = new_notebook(cells=[new_code_cell(loads), new_code_cell(bad.cell)])
    with pytest.raises(NotebookFailed, match="^Cell 2 failed"):
        run_notebook(notebook, Path.cwd())
    (error,) = [output for output in notebook.cells[1].outputs if output.output_type == "error"]
    is_magic = bad.cell.startswith("%")
    return "\n".join(error.traceback) if is_magic else error.evalue


def in_script(bad: Bad) -> str:
    """The error that a script ends with."""
    code = (
        ["-c", SCRIPT.format(line=bad.script)] if isinstance(bad.script, str) else ["-m", "harness_nb.cli", *bad.script]
    )
    run = subprocess.run([sys.executable, *code], env=dict(os.environ), capture_output=True, encoding="utf-8")
    assert run.returncode in (1, 2)
    return run.stderr


def files() -> dict[str, bytes]:
    """All files of the working directory."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("where", ["cell", "script"])
@pytest.mark.parametrize("bad", CASES, ids=lambda bad: bad.about)
def test_bad_input_fails_in_few_lines_that_say_what_to_do(bad: Bad, where: Literal["cell", "script"]) -> None:
    for name, text in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    before = files()
    said = in_cell(bad) if where == "cell" else in_script(bad)
    after = files()
    assert len(said.strip().splitlines()) <= MOST_LINES, said
    assert bad.names in said
    assert bad.says in said
    assert {name: after.get(name) for name in before} == before
    assert bad.adds or after.keys() == before.keys()
