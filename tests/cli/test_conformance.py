from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from harness_nb.cli import main
from tests.lab.conformance.recordings import as_lines, case


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["conformance", *arguments])


def written(path: Path, *cases: dict[str, object]) -> str:
    path.write_text(as_lines(*cases), encoding="utf-8")
    return str(path)


def test_what_passed_is_shown_by_system_and_kind(tmp_path: Path) -> None:
    result = run(written(tmp_path / "a.jsonl", case()))
    assert result.exit_code == 0 and "eney" in result.stdout and "under" in result.stdout


def test_a_failure_is_shown_with_both_sides_and_ends_with_one(tmp_path: Path) -> None:
    result = run(written(tmp_path / "a.jsonl", case(expect={"status": "elided"})))
    assert result.exit_code == 1
    assert '"elided"' in result.stdout and '"noop"' in result.stdout


def test_with_json_there_is_one_object_a_case_and_nothing_else(tmp_path: Path) -> None:
    bad = case(id="bad", kind="tier1", expect={"status": "elided", "tier": 2})
    result = run(written(tmp_path / "a.jsonl", case(), bad), written(tmp_path / "b.jsonl", case(id="b")), "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1 and result.stderr == ""
    assert [(one["id"], one["passed"]) for one in lines] == [("eney-made", True), ("bad", False), ("b", True)]
    assert lines[1]["actual"] == {"status": "noop", "tier": 0}


def test_a_kind_and_a_system_can_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", case(), case(id="bad", kind="tier1", expect={"status": "elided"}))
    assert run(path, "--kind", "under", "--system", "eney").exit_code == 0


def test_a_wrong_file_or_system_is_said_in_three_lines(tmp_path: Path) -> None:
    for arguments in (
        ["nowhere.jsonl"],
        [written(tmp_path / "a.jsonl", {"id": "x"})],
        [str(tmp_path), "--system", "no"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2 and result.stdout == "" and len(result.stderr.splitlines()) <= 3
