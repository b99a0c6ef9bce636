"""The fixture `policy_gate` in a user's own test file, run by pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
from harness_nb import Message, Transcript, presets, replay


def test_my_policy(policy_gate):
    said = [
        message
        for at in range(30)
        for message in (Message.user(f"Measure sample {at}."), Message.assistant("It is measured. " * 40))
    ]
    policy = presets.get("harness", keep_messages=KEEP)
    run = replay(Transcript(said, name="talk"), policy, window=8_000, model=None)
    policy_gate(run, metrics=["tokens_sent", "overflows"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    return tmp_path


def run(project: Path, *options: str, test: str = TEST, keep: int = 6) -> subprocess.CompletedProcess[str]:
    """Runs the project's only test."""
    (project / "tests" / "test_mine.py").write_text(test.replace("KEEP", str(keep)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        command, cwd=project, capture_output=True, encoding="utf-8", env={**os.environ, "COLUMNS": "200"}, check=False
    )


def test_a_policy_that_scores_as_written_passes_and_one_that_scores_worse_fails(project: Path) -> None:
    written = run(project, "--write-policy-baselines")
    assert written.returncode == 0, written.stdout
    assert (project / "tests/policy_baselines/test_mine-test_my_policy.json").is_file()
    assert run(project).returncode == 0
    worse = run(project, keep=14)
    assert worse.returncode == 1, worse.stdout
    assert "The policy scores worse than" in worse.stdout
    assert "talk, harness, window 8,000: tokens_sent" in worse.stdout and "lower is better" in worse.stdout


def test_without_a_baseline_the_test_fails_and_says_how_to_write_one(project: Path) -> None:
    missing = run(project)
    assert missing.returncode == 1
    assert "There is no baseline" in missing.stdout and "pytest --write-policy-baselines" in missing.stdout
    assert not (project / "tests/policy_baselines").exists()
