from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness_nb.cli import main
from tests.lab.scores import made_report, made_score


@pytest.fixture
def reports(tmp_path: Path) -> dict[str, str]:
    made = {
        "old": made_report(),
        "better": made_report(made_score({"tokens_sent": 900.0})),
        "worse": made_report(made_score({"tokens_sent": 1_100.0})),
        "other": made_report(made_score(data="other")),
    }
    return {name: str(report.write(tmp_path / f"{name}.json")) for name, report in made.items()}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments])


def test_the_exit_code_is_0_for_the_same_and_for_better(reports: dict[str, str]) -> None:
    assert run(reports["old"], reports["old"]).exit_code == 0
    better = run(reports["old"], reports["better"])
    assert better.exit_code == 0 and "1 better, 2 same" in better.stdout and better.stderr == ""


def test_the_exit_code_is_1_for_worse_and_the_table_says_what_and_by_how_much(reports: dict[str, str]) -> None:
    result = run(reports["old"], reports["worse"])
    assert result.exit_code == 1 and result.stderr == ""
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("worse")]
    assert "tokens_sent (lower is better)" in line and "1,000" in line and "1,100" in line and "+10 %" in line


def test_a_tolerance_lets_a_figure_get_worse(reports: dict[str, str]) -> None:
    pair = (reports["old"], reports["worse"])
    assert run(*pair, "--tolerance", "0.1").exit_code == 0
    assert run(*pair, "--tolerance", "tokens_sent=0.1").exit_code == 0
    assert run(*pair, "--tolerance", "0.1", "--tolerance", "tokens_sent=0.05").exit_code == 1
    assert run(*pair, "--metrics", "future_use").exit_code == 0


def test_json_and_files_hold_every_figure(reports: dict[str, str]) -> None:
    result = run(reports["old"], reports["worse"], "--json", "--out", "new/all.json")
    record = json.loads(result.stdout)
    assert result.exit_code == 1 and record["counts"] == {"worse": 1, "same": 2}
    assert [one["metric"] for one in record["changes"]] == ["tokens_sent", "future_use", "compactions"]
    assert json.loads(Path("new/all.json").read_text(encoding="utf-8")) == record


def test_the_exit_code_is_2_for_what_can_not_be_compared(reports: dict[str, str], tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt.json"
    spoilt.write_text("{", encoding="utf-8")
    for arguments, said in (
        (["nowhere.json", reports["old"]], "'nowhere.json'"),
        ([reports["old"], str(spoilt)], "no report of scores"),
        ([reports["old"], reports["other"]], "no replay in common"),
        ([reports["old"], reports["old"], "--tolerance", "much"], "'much' is no share"),
        ([reports["old"], reports["old"], "--metrics", "tokens"], "no metric 'tokens'"),
        ([reports["old"]], "Missing argument"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
        assert len(result.stderr.splitlines()) <= 3
