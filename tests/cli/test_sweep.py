from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness_nb import read_transcript, sweep
from harness_nb.cli import main
from tests.lab.files import write_document, write_lines


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    said = [
        {"role": role, "content": f"Sample {at}: " + "measured and written down. " * 20}
        for at in range(30)
        for role in ("user", "assistant")
    ]
    return write_lines(tmp_path / "talk.jsonl", said)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


def records(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0 and result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_combination_is_a_row_as_the_library_gives_it(talk: Path) -> None:
    settings = ("--set", "trigger_messages=10,20", "--set", "keep_messages=4,6")
    found = records(run(talk, *settings, "--window", "8k,16k", "--metrics", "compactions,tokens_sent", "--json"))
    grid = {"harness": {"trigger_messages": [10, 20], "keep_messages": [4, 6]}}
    expected = sweep(
        read_transcript(talk), grid, window=[8_000, 16_000], metrics=["compactions", "tokens_sent"]
    ).records
    assert found == list(expected) and len(found) == 8


def test_a_grid_names_several_policies(talk: Path) -> None:
    grid = write_document(talk.with_name("grid.json"), {"harness": {"keep_messages": [4, 6]}, "eney": {}})
    found = records(run(talk, "--grid", grid, "--window", "8k", "--json"))
    assert [(one["policy"], one.get("keep_messages")) for one in found] == [
        ("harness", 4),
        ("harness", 6),
        ("eney", None),
    ]


def test_processes_give_the_same_table(talk: Path) -> None:
    arguments = (talk, "--set", "keep_messages=4,6,8", "--window", "8k", "--json")
    assert records(run(*arguments, "--workers", "2")) == records(run(*arguments))


def test_a_second_run_goes_on_from_the_results_that_are_kept(talk: Path) -> None:
    arguments = (talk, "--set", "keep_messages=4,6", "--window", "8k", "--folder", "kept", "--json")
    first = records(run(*arguments))
    kept = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    assert kept and records(run(*arguments)) == first
    assert {path: path.read_bytes() for path in kept} == kept


def test_the_table_is_shown_and_written(talk: Path) -> None:
    for ending in ("json", "csv", "md"):
        result = run(talk, "--set", "keep_messages=4,6", "--window", "8k", "--out", f"new/table.{ending}")
        assert result.exit_code == 0 and "keep_messages" in result.stdout
    written = json.loads(Path("new/table.json").read_text(encoding="utf-8"))
    with Path("new/table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["tokens_sent"]) for row in rows] == [one["tokens_sent"] for one in written]
    assert len(Path("new/table.md").read_text(encoding="utf-8").splitlines()) == len(rows) + 2


def test_wrong_input_is_said_in_three_lines(talk: Path) -> None:
    spoilt = talk.with_name("spoilt.json")
    spoilt.write_text("{", encoding="utf-8")
    for arguments, said in (
        (["--metrics", "tokens"], "There is no metric 'tokens'"),
        (["--grid", "nowhere.json"], "There is no file 'nowhere.json'"),
        (["--grid", str(spoilt)], "is no JSON"),
        (["--grid", str(write_document(talk.with_name("list.json"), [1]))], "holds no grid"),
        (["--grid", str(spoilt), "--set", "keep_messages=4"], "Both --grid and --set"),
        (["--set", "keep_messages"], "sets nothing"),
        (["--workers", "0"], "'--workers'"),
    ):
        result = run(talk, *arguments)
        assert result.exit_code == 2 and result.stdout == ""
        assert said in result.stderr and len(result.stderr.splitlines()) <= 3


def test_the_exit_code_is_1_only_when_every_trial_was_refused(talk: Path) -> None:
    refused = run(talk, "--preset", "eney", "--set", "keeep=1")
    assert refused.exit_code == 1 and "has no setting 'keeep'" in refused.stdout
    assert run(talk, "--set", "keep_messages=4,none").exit_code == 0
