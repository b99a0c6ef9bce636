"""The same results where there is no JupyterLab: a script, papermill, and pages made by nbconvert, with and without widgets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import harness_nb
from harness_nb.cli.kernel import run_notebook

PROJECT = Path(harness_nb.__file__).parent.parent

CELLS = [
    """\
%load_ext harness_nb
from harness_nb import (CompactionConfig, ConsolidationWidget, CutoffWidget, HarnessAgent, Message, PressureWidget,
                        Transcript, TunerWidget)
said = [m for n in range(30) for m in (Message.user(f"question {n} " * 9), Message.assistant(f"answer {n} " * 9))]
talk = Transcript(said, name="talk")
agent = HarnessAgent("lab", workspace="ws", compaction=CompactionConfig(trigger_messages=4, keep_messages=2))
%agent use agent""",
    "%%agent\nThe probe is Kappa.",
    "%%agent\nWho is responsible for the probe?",
    "%context",
    "CutoffWidget(talk)",
    "%memory pending",
    "TunerWidget(talk, 'harness', 'eney', window=8_000)",
    "%memory search probe",
]
SHOWN = ["Context pressure", "What harness would do", "Pending consolidation", "Tuner: talk", "The [probe] is Kappa."]


def book() -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )


def page_of(notebook: nbformat.NotebookNode) -> str:
    """What nbconvert makes of it."""
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter().from_notebook_node(notebook)
    return str(page)


def text_of(page: str) -> str:
    """The words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))


@pytest.mark.notebook
@pytest.mark.parametrize("static", ["0", "1"])
def test_a_page_made_by_nbconvert_shows_every_widget(tmp_path: Path, static: str) -> None:
    notebook = book()
    run_notebook(notebook, tmp_path, variables={"HARNESS_NB_STATIC": static, "PYTHONPATH": str(PROJECT)})
    kinds = {kind for cell in notebook.cells for output in cell.outputs for kind in output.get("data", {})}
    assert ("application/vnd.jupyter.widget-view+json" in kinds) == (static == "0")
    text = text_of(page_of(notebook))
    assert [said for said in SHOWN if said not in text] == []
    assert ("%context plan 1" in text) == (static == "0")  # the row of a compaction in a live turn


@pytest.mark.notebook
def test_papermill_runs_a_notebook_with_other_parameters_and_shows_the_static_forms(tmp_path: Path) -> None:
    given = PROJECT / "notebooks" / "00_quickstart.ipynb"
    script = (
        "import sys, papermill\n"
        "papermill.execute_notebook(sys.argv[1], sys.argv[2], parameters={'window': 4_000}, progress_bar=False, "
        "log_output=False, cwd=sys.argv[3], kernel_name='python3', transport='ipc')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(given), str(tmp_path / "out.ipynb"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(PROJECT), "HARNESS_NB_NOW": "2026-04-12T09:30:00+00:00"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    ran = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    injected = [cell.source for cell in ran.cells if "injected-parameters" in cell.metadata.get("tags", ())]
    assert "window = 4000" in injected[0]
    assert "Context pressure" in text_of(page_of(ran))


def test_a_script_without_ipython_shows_the_same_as_text(tmp_path: Path) -> None:
    script = """
import sys
from harness_nb import CompactionConfig, HarnessAgent, Message, Transcript
said = [m for n in range(30) for m in (Message.user(f"question {n} " * 9), Message.assistant(f"answer {n} " * 9))]
talk = Transcript(said, name="talk")
with HarnessAgent("lab", workspace="ws", compaction=CompactionConfig(trigger_messages=4, keep_messages=2)) as agent:
    agent.ask("The probe is Kappa.")
    reply = agent.ask("Who is responsible for the probe?")
    print(reply, agent.status(), agent.plan(), agent.memory.search("probe"), agent.memory.pending(), sep="\\n")
    assert "IPython" not in sys.modules
    from harness_nb import CutoffWidget, PressureWidget, TunerWidget
    for widget in (PressureWidget(agent), CutoffWidget(talk), CutoffWidget(agent, plan=1), TunerWidget(talk, window=8_000)):
        print(repr(widget), widget, sep="\\n")
        widget.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr[-2_000:]
    for said in ("Context pressure", "What harness would do", "Tuner: talk", "Plan 1: what harness did", "Kappa"):
        assert said in done.stdout, said


def test_every_test_that_the_page_of_front_ends_names_is_there() -> None:
    page = (PROJECT / "notebooks" / "reference" / "frontends.md").read_text("utf-8")
    named = set(re.findall(r"`(tests/[^`]+)`", page))
    assert len(named) >= 5 and [path for path in named if not (PROJECT / path).exists()] == []
