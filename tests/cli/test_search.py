from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness_nb.cli import main
from harness_nb.core.clock import Clock
from harness_nb.store.daily_log import Fact
from harness_nb.store.workspace import Workspace


@pytest.fixture
def store(workspace: Path, clock: Clock) -> Workspace:
    store = Workspace(workspace, clock=clock)
    store.curated.replace("- The zebra is striped\n")
    store.daily_log.append([Fact("A zebra was seen"), Fact("A horse was not")])
    return store


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["search", *arguments])


def test_hits_are_printed_best_first_with_their_place(store: Workspace) -> None:
    result = run("zebras", "seen", "--workspace", str(store.path))
    assert result.exit_code == 0
    assert "2 hits, the best with all words" in result.output
    assert "A [zebra] was [seen]" in result.output and "memory/2026-04-12.md:3" in result.output


def test_json_is_an_object_a_hit(store: Workspace) -> None:
    result = run(
        "zebra", "--kind", "daily", "--neighbours", "1", "--limit", "2", "--json", "--workspace", str(store.path)
    )
    records = [json.loads(line) for line in result.output.splitlines()]
    assert [(one["line"], one["stage"], one["date"]) for one in records] == [
        (3, "all words", "2026-04-12"),
        (1, "neighbour", "2026-04-12"),
    ]


def test_nothing_found_is_exit_code_1(store: Workspace) -> None:
    result = run("unicorn", "--workspace", str(store.path))
    assert result.exit_code == 1 and "nothing found" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workspace", "nowhere"], "'nowhere' is no folder"),
        (["--kind", "diary"], "'diary' is no kind of hit"),
        (["--limit", "0"], "limit=0"),
        (["--neighbours", "-1"], "neighbours=-1"),
        (["--mode", "magic"], "mode='magic' is unknown"),
    ],
)
def test_wrong_settings_are_named_in_three_lines_at_most(store: Workspace, arguments: list[str], said: str) -> None:
    result = run("zebra", "--workspace", str(store.path), *arguments)
    assert result.exit_code == 2 and said in result.output
    assert len(result.output.splitlines()) <= 3
