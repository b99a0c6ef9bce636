"""A case: seeded, looked at, and gone without a trace."""

from __future__ import annotations

import os
import tempfile
import threading
from datetime import date
from pathlib import Path

import pytest

from harness_nb import HarnessAgent, ScriptedModel, Transcript
from harness_nb.core.clock import Clock
from harness_nb.core.messages import Message
from harness_nb.errors import CheckError, ConfigError, HarnessError, StoreError
from harness_nb.lab.evaluation import Case, Fixtures, checks, evaluation
from tests.lab.evaluation.tasks import FIXTURES


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def left(tmp_path: Path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith("harness_nb-case-")]


def test_the_workspace_holds_the_fixtures_and_the_search_finds_them(tmp_path: Path, clock: Clock) -> None:
    with evaluation(FIXTURES, clock=clock) as case:
        case.check(
            checks.memory_says("the lab uses PYTHON 3.11"),
            checks.logs_say("The detector was moved to room 7."),
            checks.file_says("memory/beam.md", "41 keV"),
            checks.file_exists("notes/plan.txt"),
            checks.search_finds("beam energy", "41 keV"),
            checks.search_finds("cat", "Mochi"),
        )
        assert len(left(tmp_path)) == 1
    assert left(tmp_path) == []


def test_a_session_of_the_fixtures_can_be_gone_on_with() -> None:
    said = Transcript([Message.user("My cat is Mochi."), Message.assistant("Noted.")])
    model = ScriptedModel(chat=["Mochi."], flush=["NO_REPLY"], repeat_last=True)
    with evaluation(Fixtures(sessions={"old": said}), model=model, session="old") as case:
        assert case.ask("What is my cat called?").text == case.answer == "Mochi."
        case.check(checks.context_says("My cat is Mochi."), checks.context_lacks("dog"))


def test_an_answer_that_needs_the_memory_is_found_by_its_tools(clock: Clock) -> None:
    with evaluation(FIXTURES, clock=clock) as case:
        case.ask("Where was the detector moved to?")
        case.check(
            checks.answer_says("room 7"),
            checks.answer_lacks("room 8"),
            checks.answer_matches(r"room \d"),
            checks.tool_was_called("memory_search"),
            checks.tool_was_not_called("write_file"),
            checks.requests_at_most(2),
            checks.file_is_unchanged("MEMORY.md"),
            checks.memory_lacks("room 7"),
            checks.file_is_gone("nothing.md"),
        )


def test_all_that_fails_is_told_at_once_and_is_an_assertion(clock: Clock) -> None:
    def never(case: Case) -> bool:
        return False

    def breaks(case: Case) -> None:
        assert case.answer == "42", "no 42"

    wrong = [
        checks.answer_says("room 9"),
        checks.answer_matches("x{3}"),
        checks.memory_says("Rust"),
        checks.memory_lacks("Python"),
        checks.logs_say("nothing"),
        checks.logs_lack("detector"),
        checks.file_says("none.md", "x"),
        checks.file_exists("none.md"),
        checks.file_is_gone("MEMORY.md"),
        checks.file_is_unchanged("none.md"),
        checks.search_finds("detector", "room 9"),
        checks.tool_was_called("memory_search"),
        checks.requests_at_most(-1),
        never,
        breaks,
    ]
    with evaluation(FIXTURES, clock=clock) as case, pytest.raises(CheckError) as failed:
        case.check(checks.memory_says("Python"), *wrong)
    said = failed.value.problem
    assert said.startswith("15 of 16 checks failed: the answer says 'room 9': it does not say 'room 9'; ")
    assert "MEMORY.md lacks 'Python': it says 'Python'" in said and "breaks: AssertionError: no 42" in said
    assert "none.md says 'x': there is no such file" in said and "never: it does not hold" in said
    assert isinstance(failed.value, AssertionError) and isinstance(failed.value, HarnessError)


def test_a_file_that_was_made_changed_or_deleted_is_not_unchanged() -> None:
    with evaluation(FIXTURES) as case:
        case.workspace.write("MEMORY.md", "other")
        case.workspace.write("new.md", "x")
        (case.workspace.path / "notes/plan.txt").unlink()
        found = case.find(*map(checks.file_is_unchanged, ("MEMORY.md", "new.md", "notes/plan.txt", "memory/beam.md")))
    assert [one.detail for one in found] == ["it was changed", "it was made", "it was deleted", ""]


def test_nothing_is_left_when_the_case_fails(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    open_files = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with pytest.raises(ZeroDivisionError), evaluation(FIXTURES) as case:
        case.ask("Where was the detector moved to?")
        assert (case.workspace.path.parent / "memory_index.db").exists()
        raise ZeroDivisionError
    assert left(tmp_path) == []
    assert {one.name for one in set(threading.enumerate()) - before} <= {"harness_nb-loop"}
    links = [os.path.realpath(f"/proc/self/fd/{one}") for one in set(os.listdir("/proc/self/fd")) - open_files]
    assert not [link for link in links if "harness_nb-case-" in link]


def test_nothing_is_left_when_the_case_can_not_begin(tmp_path: Path) -> None:
    for given, error in (
        (Fixtures(files={"../out.md": "x"}), StoreError),
        (Fixtures(daily_logs={"yesterday": "x"}), ConfigError),
        (Fixtures(sessions={"s": []}), ConfigError),
        (Fixtures(folder="no such folder"), ConfigError),
    ):
        with pytest.raises(error), evaluation(given):
            raise AssertionError("never here")
    with pytest.raises(ConfigError), evaluation(FIXTURES, preset="no such preset"):
        raise AssertionError("never here")
    with pytest.raises(ConfigError, match="a workspace of its own"), evaluation(workspace="ws"):
        raise AssertionError("never here")
    assert left(tmp_path) == []


def test_a_folder_is_copied_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("The tea is green.\n", encoding="utf-8")
    with evaluation(Fixtures(folder=folder, daily_logs={date(2026, 4, 10): "- A line.\n"})) as case:
        case.check(checks.memory_says("tea is green"), checks.logs_say("A line."))
        case.workspace.write("MEMORY.md", "other")
    assert (folder / "MEMORY.md").read_text(encoding="utf-8") == "The tea is green.\n"
    assert list((folder / "memory").iterdir()) == []


def test_an_agent_of_the_users_own_beside_it_is_not_touched(tmp_path: Path) -> None:
    with HarnessAgent(workspace=tmp_path / "mine") as mine:
        mine.workspace.write("MEMORY.md", "Mine.\n")
        with evaluation(FIXTURES) as case:
            case.check(checks.memory_lacks("Mine"))
        assert mine.workspace.read("MEMORY.md") == "Mine.\n"
