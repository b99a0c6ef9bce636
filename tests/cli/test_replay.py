from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness_nb import presets, read_transcript, replay
from harness_nb.cli import main
from tests.lab.files import write_lines


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    said = [
        {"role": role, "content": f"Sample {at}: " + "measured and written down. " * 20}
        for at in range(30)
        for role in ("user", "assistant")
    ]
    return write_lines(tmp_path / "talk.jsonl", said)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["replay", *map(str, arguments)])


def test_the_compactions_are_shown_with_their_reasons(talk: Path) -> None:
    result = run(talk, "--window", "8k", "--set", "trigger_messages=20")
    assert result.exit_code == 0 and result.stderr == ""
    assert "Replay of talk.jsonl under harness" in result.stdout and "reach trigger_messages=20" in result.stdout


def test_json_is_what_the_library_gives(talk: Path) -> None:
    result = run(talk, "--window", "8k", "--preset", "eney", "--model", "none", "--json")
    expected = replay(read_transcript(talk), "eney", window=8_000, model=None)
    record = json.loads(result.stdout)
    assert (record["policy"], record["window"]) == ("eney", 8_000)
    assert record["totals"]["tokens_sent"] == expected.totals.tokens_sent
    assert record["steps"] == json.loads(json.dumps(expected.records, default=str))


def test_the_points_are_written_in_the_form_that_is_asked_for(talk: Path) -> None:
    for ending in ("json", "csv", "md"):
        assert run(talk, "--window", "8k", "--out", f"new/points.{ending}").exit_code == 0
    steps = json.loads(Path("new/points.json").read_text(encoding="utf-8"))["steps"]
    with Path("new/points.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = Path("new/points.md").read_text(encoding="utf-8").splitlines()
    assert [int(row["tokens_after"]) for row in rows] == [step["tokens_after"] for step in steps]
    assert len(lines) == len(steps) + 2 and lines[0].startswith("| step |")


def test_settings_reach_the_preset(talk: Path) -> None:
    settings = ("--set", "trigger_messages=16", "--set", "keep-messages=4", "--model", "none")
    record = json.loads(run(talk, *settings, "--json").stdout)
    acting = presets.get("harness", trigger_messages=16, keep_messages=4)
    assert record["totals"]["compactions"] == replay(read_transcript(talk), acting, model=None).totals.compactions > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--preset", "hermess"], "Did you mean 'hermes'?"),
        (["--set", "keep_mesages=4"], "Did you mean 'keep_messages'?"),
        (["--window", "wide"], "'wide' is no number of tokens"),
        (["--out", "points.xls"], "'points.xls' names no form"),
        (["--conversation", "7"], "has no conversation 7"),
    ],
)
def test_what_is_wrong_is_said_in_three_lines(talk: Path, arguments: list[str], said: str) -> None:
    result = run(talk, *arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert said in result.stderr and len(result.stderr.splitlines()) <= 3


def test_what_was_skipped_in_the_file_is_said_beside_the_result(talk: Path) -> None:
    with talk.open("a", encoding="utf-8") as file:
        file.write("no JSON\n" * 7 + '{"role": "user", "content": "Bye."}\n')
    result = run(talk, "--json")
    assert json.loads(result.stdout)["totals"]["messages"] == 61
    assert result.stderr.splitlines()[0] == "line 61: skipped a line that is not JSON"
    assert result.stderr.splitlines()[5:] == ["and 2 more; the report of harness-nb demo has all"]
