from __future__ import annotations

from pathlib import Path

from harness_nb.core.rounds import problems
from harness_nb.lab.datasets import Action, load
from tests.lab.datasets.samples import TAU
from tests.lab.files import write_document, write_lines


def test_runs_are_read_from_lines_and_from_a_list(tmp_path: Path) -> None:
    by_line = load(write_lines(tmp_path / "runs.jsonl", TAU))
    as_list = load(write_document(tmp_path / "runs.json", TAU))
    assert by_line.conversations == as_list.conversations
    assert [one.name for one in by_line] == ["task 7 trial 1", "task 8 trial 0"]
    assert [one.reward for one in by_line] == [0.0, 1.0]


def test_messages_are_kept_as_they_are(tmp_path: Path) -> None:
    run = load(write_lines(tmp_path / "runs.jsonl", TAU))[0]
    assert run.transcript.to_openai() == TAU[0]["traj"]


def test_gold_calls_keep_their_arguments(tmp_path: Path) -> None:
    run, other = load(write_lines(tmp_path / "runs.jsonl", TAU))
    assert run.actions[0] == Action(name="cancel", arguments={"id": "ZX99QA"})
    assert run.actions[1].arguments["flights"] == [{"no": "HAT1"}]
    assert other.actions == ()


def test_what_is_odd_is_counted(tmp_path: Path) -> None:
    cut = [{**TAU[0], "traj": TAU[0]["traj"][:3]}, TAU[1]]
    found = {one.what: one.count for one in load(write_lines(tmp_path / "runs.jsonl", cut)).report}
    assert found == {
        "messages left out or added to make rounds whole": 1,
        "runs that were not rewarded": 1,
        "tasks that ask for no call": 1,
    }


def test_the_given_runs_have_the_published_counts(data: Path) -> None:
    runs = load(data / "tau_bench_airline")
    assert (len(runs), sum(len(one.transcript) for one in runs)) == (50, 1_716)
    assert sum(one.reward == 1.0 for one in runs) == 22
    assert all(problems(one.transcript[:], needs_reply=False) == () for one in runs)
