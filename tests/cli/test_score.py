from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness_nb.cli import main
from tests.lab.files import write_document, write_lines


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """A folder with three recorded conversations."""
    folder = tmp_path / "talks"
    folder.mkdir()
    for name in ("a", "b", "c"):
        said = [
            {"role": role, "content": f"Sample {at} of {name}: " + "measured and written down. " * 20}
            for at in range(30)
            for role in ("user", "assistant")
        ]
        write_lines(folder / f"{name}.jsonl", said)
    return folder


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """A made-up data set in the form of LoCoMo."""
    turns = [
        {"speaker": "AB"[at % 2], "dia_id": f"D1:{at + 1}", "text": f"Sample {at} weighs {at * 37} grams. " * 20}
        for at in range(60)
    ]
    talk = {"speaker_a": "A", "speaker_b": "B", "session_1_date_time": "1:00 pm on 8 May, 2023", "session_1": turns}
    asked = [{"question": "What does sample 4 weigh?", "answer": "148", "evidence": ["D1:5"], "category": 4}]
    return write_document(tmp_path / "chats.json", [{"sample_id": "one", "conversation": talk, "qa": asked}])


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["score", *map(str, arguments), "--workers", "1"])


def test_each_version_of_each_preset_is_a_row(chats: Path) -> None:
    result = run(chats, "--preset", "harness,picoclaw", "--window", "4k,100k")
    assert result.exit_code == 0 and result.stderr == ""
    for said in ("LoCoMo, window 4k", "LoCoMo, window 100k", "picoclaw seahorse", "CC BY-NC 4.0", "SHA-256"):
        assert said in result.stdout


def test_json_is_an_object_a_row(chats: Path) -> None:
    result = run(chats, "--preset", "harness,eney", "--window", "4k", "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(row["preset"] for row in rows) == ["eney", "harness"]
    assert all(row["answered_by"] == "offline" and 0 <= row["survival"] <= 1 for row in rows)


def test_a_baseline_decides_on_the_exit_code(chats: Path) -> None:
    arguments = (chats, "--preset", "harness", "--window", "4k")
    assert run(*arguments, "--out", "first").exit_code == 0
    same = run(*arguments, "--baseline", "first/report.json")
    assert same.exit_code == 0 and "same" in same.stdout
    report = json.loads(Path("first/report.json").read_text(encoding="utf-8"))
    report["scores"][0]["values"]["tokens_sent"] -= 100
    write_document(Path("better.json"), report)
    worse = run(*arguments, "--baseline", "better.json")
    assert worse.exit_code == 1 and "tokens_sent (lower is better)" in worse.stdout
    assert run(*arguments, "--baseline", "better.json", "--tolerance", "0.5").exit_code == 0


def test_wrong_input_is_said_in_three_lines(chats: Path) -> None:
    for arguments, said in (
        (["nowhere"], "'nowhere'"),
        ([chats, "--preset", "hermess"], "Did you mean 'hermes'?"),
        ([chats, "--window", "wide"], "'wide' is no number of tokens"),
        ([chats, "--baseline", "nowhere.json"], "'nowhere.json'"),
        ([chats, "--answers", "guessed"], "guessed"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2 and result.stdout == "" and said in result.stderr
        assert len(result.stderr.splitlines()) <= 3


@pytest.mark.skipif(os.name == "nt", reason="kills a group of processes")
def test_a_run_that_was_killed_goes_on_and_gives_the_same_table(talks: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    arguments = (talks, "--preset", "eney,harness,hermes", "--window", "4k,8k", "--out")
    assert run(*arguments, whole).exit_code == 0
    command = [sys.executable, "-m", "harness_nb.cli", "score", *map(str, arguments), str(broken), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        while process.poll() is None and not list(broken.rglob("*.jsonl")):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    begun = {path: path.read_bytes() for path in broken.rglob("*.jsonl")}
    assert begun and not (broken / "leaderboard.csv").exists()
    assert run(*arguments, broken).exit_code == 0
    for name in ("leaderboard.csv", "leaderboard.md", "report.json", "pareto.vl.json"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    assert all(path.read_bytes().startswith(data[: data.rfind(b"\n") + 1]) for path, data in begun.items())
