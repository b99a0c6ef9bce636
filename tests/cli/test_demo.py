from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.notebooks.run import STILL

pytestmark = pytest.mark.notebook

LOOPBACK_IS_DOWN = ["unshare", "--net", "--map-root-user"]


def harness_nb(*arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it, every warning an error."""
    command = [*before, sys.executable, "-W", "error", "-m", "harness_nb.cli", *arguments]
    environment = {**os.environ, "HARNESS_NB_NOW": STILL["HARNESS_NB_NOW"]}
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120)


def number(output: str, name: str) -> int:
    """The number in a line of a table."""
    line = next(line for line in output.splitlines() if line.startswith(name))
    return int(line.split()[-1].replace(",", ""))


def write_conversation(path: Path) -> None:
    """Sixty messages, and at the end a line that was never finished."""
    lines = []
    for at in range(30):
        lines.append(json.dumps({"role": "user", "content": f"Measure sample {at}."}))
        lines.append(json.dumps({"role": "assistant", "content": f"Sample {at} has an intensity of {at * 7}. " * 20}))
    path.write_text("\n".join([*lines, '{"role": "user", "cont']) + "\n", encoding="utf-8")


def test_the_demo_runs_the_quickstart_and_says_what_happened() -> None:
    run = harness_nb("demo")
    assert (run.returncode, run.stderr) == (0, "")
    assert number(run.stdout, "compactions") == 1
    assert number(run.stdout, "turns") == 5
    assert number(run.stdout, "facts written") >= 4
    assert number(run.stdout, "hits of a search for 'who is Mira responsible for'") >= 2
    notebook = nbformat.read("harness-nb-demo/00_quickstart.ipynb", as_version=4)
    assert [cell.id for cell in notebook.cells][-1] == "checks"
    assert "Mira" in Path("harness-nb-demo/00_quickstart.html").read_text(encoding="utf-8")


def test_the_demo_needs_no_network_not_even_loopback() -> None:
    if shutil.which("unshare") is None or subprocess.run([*LOOPBACK_IS_DOWN, "true"], check=False).returncode:
        pytest.skip("a namespace without a network can't be made here")
    run = harness_nb("demo", before=tuple(LOOPBACK_IS_DOWN))
    assert (run.returncode, run.stderr) == (0, "")


def test_settings_of_the_demo_reach_the_notebook() -> None:
    run = harness_nb("demo", "--preset", "eney", "--window", "30000", "--out", "out")
    assert (run.returncode, run.stderr) == (0, "")
    assert "window 30k tokens" in run.stdout
    assert number(run.stdout, "compactions") == 0
    notebook = nbformat.read("out/00_quickstart.ipynb", as_version=4)
    assert notebook.cells[2].source == "preset = 'eney'\nwindow = 30000"


def test_a_conversation_is_replayed_and_its_figures_are_those_of_the_run() -> None:
    write_conversation(Path("talk.jsonl"))
    run = harness_nb("demo", "--transcript", "talk.jsonl", "--window", "8k", "--out", "out")
    assert (run.returncode, run.stderr) == (0, "")
    assert number(run.stdout, "messages read") == 60
    assert "window 8,000 tokens (user)" in run.stdout
    assert "reach trigger_messages=50" in run.stdout
    report = Path("out/talk-harness.html").read_text(encoding="utf-8")
    assert "line 61" in report
    assert (Path("out/talk-harness.ipynb")).exists()


def test_a_replay_whose_model_has_no_key_says_why_nothing_was_compacted() -> None:
    write_conversation(Path("talk.jsonl"))
    run = harness_nb("demo", "--transcript", "talk.jsonl", "--model", "openai/gpt-4o")
    assert number(run.stdout, "plans that failed or were refused") > 0
    assert "OPENAI_API_KEY" in run.stdout


def test_a_notebook_that_fails_is_written_as_far_as_it_ran() -> None:
    run = harness_nb("demo", "--model", "openai/gpt-4o", "--out", "out")
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) <= 3
    assert "openai/gpt-4o" in run.stderr
    notebook = nbformat.read("out/00_quickstart.ipynb", as_version=4)
    assert [cell.id for cell in notebook.cells][-1] == "checks"
    assert not Path("out/00_quickstart.html").exists()


@pytest.mark.parametrize(
    ("name", "dropped", "repaired"), [("large-session.jsonl", 14, 18), ("before-compaction.jsonl", 13, 6)]
)
@pytest.mark.parametrize("settings", [("harness",), ("eney",), ("eney", "--window", "100000")])
def test_a_recorded_session_is_replayed(
    data: Path, name: str, dropped: int, repaired: int, settings: tuple[str, ...]
) -> None:
    file = data / "pi_sessions" / name
    run = harness_nb("demo", "--transcript", str(file), "--preset", *settings, "--out", "out")
    assert (run.returncode, run.stderr) == (0, "")
    assert number(run.stdout, "dropped") == dropped
    assert number(run.stdout, "repaired") == repaired
    report = Path(f"out/{file.stem}-{settings[0]}.html").read_text(encoding="utf-8")
    assert report.count("line ") >= dropped + repaired
