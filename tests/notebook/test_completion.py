"""Completion on our own lines only."""

from __future__ import annotations

import time

import pytest

from harness_nb.notebook.completion import candidates
from harness_nb.notebook.grammar import MAGICS


def values(name: str) -> list[str]:
    known = {
        "presets": ["eney", "harness"], "models": ["offline", "local"], "days": ["today", "2026-04-12"],
        "candidates": ["1", "2"], "versions": ["7"], "variants": ["report"], "conversations": ["talk"],
    }  # fmt: skip
    return known.get(name, [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%memory re", ["reindex", "reject", "restore"]),
        ("%memory accept ", ["--debug", "--help", "--only", "1", "2"]),
        ("%memory reject 1 --", ["--again", "--debug", "--help", "--only"]),
        ("%memory restore ", ["--debug", "--help", "7"]),
        ("%policy show --variant ", ["report"]),
        ("%policy compare harness e", ["eney"]),
        ("%policy tune --on t", ["talk"]),
        ("%context co", ["compact", "course"]),
        ("%memory s", ["search", "show", "status"]),
        ("%memory search x --l", ["--limit"]),
        ("%memory log ", ["--debug", "--help", "2026-04-12", "today"]),
        ("%memory log t", ["today"]),
        ("  %agent new --preset ", ["eney", "harness"]),
        ("%agent new --preset h", ["harness"]),
        ("%agent new --window ", []),
        ("%%agent --mo", ["--model"]),
        ("%%agent --model o", ["offline"]),
        ("%context pl", ["plan"]),
        ("%context --h", ["--help"]),
        ("%agent nosuch ", []),
    ],
)
def test_what_may_stand_there_is_offered(text: str, found: list[str]) -> None:
    assert (candidates(text, values) or ("", None))[1] == found


@pytest.mark.parametrize(
    "text", ["", "memory ", "%mem", "%memory", "print('%memory ", "%timeit x", "%%%agent ", "x = 1"]
)
def test_other_lines_are_left_alone(text: str) -> None:
    assert candidates(text, values) is None


def test_the_completer_offers_sub_commands_and_nothing_else(shell) -> None:
    assert shell.complete_line("%memory se") == ["search"]
    assert set(shell.complete_line("%memory ")) == {command.name.split()[-1] for command in MAGICS["memory"]}


def test_values_of_the_user_are_offered(shell) -> None:
    shell.cell("from harness_nb import HarnessAgent\nmine = HarnessAgent(workspace='ws')\nnote = 1")
    assert shell.complete_line("%agent use m") == ["mine"]
    assert shell.complete_line("%%agent --var no") == ["note"]
    shell.cell("%agent use mine")
    shell.cell("%%agent\nRemember that the probe is Kappa.")
    assert mine_day(shell) in shell.complete_line("%memory log ")
    assert shell.user_ns["mine"].session in shell.complete_line("%agent reset ")
    shell.user_ns["mine"].close()


def mine_day(shell) -> str:
    return shell.user_ns["mine"].workspace.clock.now().date().isoformat()


def test_completion_is_quick(shell) -> None:
    shell.complete_line("%agent new --preset ")
    begun = time.perf_counter()
    for _ in range(10):
        candidates("%agent new --preset ", values)
    assert (time.perf_counter() - begun) / 10 < 0.02


def test_a_failing_set_of_values_offers_nothing(shell, monkeypatch) -> None:
    from harness_nb.notebook.completion import Values

    monkeypatch.setattr(Values, "__call__", lambda self, name: 1 / 0)
    assert "harness" not in shell.complete_line("%agent new --preset ")
