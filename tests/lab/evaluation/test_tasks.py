"""Many tasks at once: each on its own, the table in the order given."""

from __future__ import annotations

import pickle
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import pytest

from harness_nb import ScriptedModel
from harness_nb.errors import ConfigError
from harness_nb.lab.evaluation import Case, EvaluationReport, Task, checks, evaluate
from tests.lab.evaluation.tasks import FIXTURES, numbered

NUMBERS = range(11, 19)


def test_eight_at_once_in_threads_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gate = threading.Barrier(8)

    def together(case: Case) -> None:
        gate.wait(60)
        case.ask("Where does the detector stand?")
        gate.wait(60)

    tasks = [numbered(number) for number in NUMBERS]
    report = evaluate([Task(name=one.name, fixtures=one.fixtures, ask=together, checks=one.checks) for one in tasks])
    assert report.passed and repr(report) == "EvaluationReport(8 of 8 passed)", str(report)
    assert list(tmp_path.iterdir()) == []


def test_eight_at_once_in_processes_do_not_meet_and_the_table_is_the_same() -> None:
    tasks = [numbered(number) for number in NUMBERS]
    context = get_context("forkserver")  # no copy of this process, and what it needs is imported once for all eight
    context.set_forkserver_preload(["tests.lab.evaluation.tasks"])
    with ProcessPoolExecutor(8, mp_context=context) as executor:
        report = evaluate(tasks, executor=executor)
    assert report.passed, str(report)
    pd.testing.assert_frame_equal(report.df, evaluate(tasks).df)


def test_what_fails_and_what_breaks_is_a_row_with_the_reason() -> None:
    def breaks(case: Case) -> None:
        case.ask("Hello?")
        raise RuntimeError("the instrument is off")

    report = evaluate(
        [
            Task(name="right", fixtures=FIXTURES, ask="Where was the detector moved?", checks=[checks.answer_says("room 7")]),
            Task(name="wrong", fixtures=FIXTURES, ask="Where was the detector moved?", checks=[checks.answer_says("room 8")]),
            Task(name="broken", ask=breaks),
            Task(name="refused", settings={"preset": "x"}),
        ],
        ["harness"],
    )  # fmt: skip
    frame = report.df.set_index("task")
    assert frame["passed"].tolist() == [True, False, False, False] and not report.passed
    assert frame.loc["wrong", "why"] == "the answer says 'room 8': it does not say 'room 8'"
    assert frame.loc["broken", "why"] == "RuntimeError: the instrument is off"
    assert frame.loc["broken", "answer"] != ""
    assert "TypeError" in frame.loc["refused", "why"]
    assert report.checks()[["task", "passed"]].values.tolist() == [["right", True], ["wrong", False]]
    assert "✗ error" in str(report) and "✗ 1 of 1 fail" in str(report) and "1 of 4" in str(report)
    assert "instrument is off" in report._repr_mimebundle_()["text/html"]


def test_each_case_gets_a_model_of_its_own_and_its_usage_is_counted() -> None:
    made: list[ScriptedModel] = []

    def model() -> ScriptedModel:
        made.append(ScriptedModel(chat=["One.", "Two."], flush=["NO_REPLY"], repeat_last=True))
        return made[-1]

    tasks = [Task(name=name, ask=["first", "second"], checks=[checks.answer_says("Two.")]) for name in "ab"]
    with ThreadPoolExecutor(2) as executor:
        report = evaluate(tasks, model=model, executor=executor)
    assert report.passed and len(made) == 2
    assert report.df["requests"].tolist() == [2, 2]
    assert report.df["output_tokens"].tolist() == [0, 0]  # a script reports no usage
    assert evaluate(Task(name="offline", ask="Hello")).df.loc[0, "input_tokens"] > 0


def test_the_frames_have_the_same_columns_when_empty() -> None:
    from harness_nb.frames.trials import checks_frame, evaluation_frame

    report = evaluate(Task(name="one", ask="Hello", checks=[checks.requests_at_most(5)]))
    pd.testing.assert_series_equal(report.df.dtypes, evaluation_frame([]).dtypes)
    pd.testing.assert_series_equal(report.checks().dtypes, checks_frame([]).dtypes)
    assert EvaluationReport(()).passed


def test_checks_can_be_sent_to_other_processes() -> None:
    one = checks.search_finds("a", "b")
    assert pickle.loads(pickle.dumps(one)).said == one.said  # noqa: S301 - made here


@pytest.mark.parametrize(("tasks", "problem"), [([], "nothing to evaluate"), ([Task(name="a")] * 2, "Two tasks")])
def test_no_task_and_two_of_one_name_are_refused(tasks: list[Task], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        evaluate(tasks)


def test_progress_is_told_after_each_case() -> None:
    told: list[tuple[int, int]] = []
    evaluate([Task(name="a"), Task(name="b")], progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
