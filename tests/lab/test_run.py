from __future__ import annotations

import pandas as pd

from harness_nb import presets
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay


def run_of(turns: int = 20, *, report: tuple[str, ...] = (), name: str = "talk <b>") -> Replay:
    said = [message for _ in range(turns) for message in (Message.user("Note this. " * 20), Message.assistant("Yes."))]
    preset = presets.get("harness", trigger_messages=12, keep_messages=4)
    return replay(Transcript(said, report=report, name=name), preset, window=32_000)


def test_a_replay_has_a_row_for_each_point_and_the_same_columns_when_there_are_none() -> None:
    run, empty = run_of(), replay(Transcript())
    frame = run.frame()
    assert len(frame) == len(run.steps) == run.totals.requests
    assert list(frame["tokens_after"]) == [step.tokens_after for step in run.steps]
    assert frame["model_calls"].sum() == run.totals.model_calls
    assert (frame["window"] == 32_000).all() and frame["pressure"].between(0, 1).all()
    pd.testing.assert_series_equal(empty.frame().dtypes, frame.dtypes)
    pd.testing.assert_frame_equal(run.df, frame)


def test_a_replay_shows_itself_as_text_and_as_escaped_html() -> None:
    run = run_of(report=("line 3: dropped this",))
    shown = run._repr_mimebundle_()
    assert repr(run).startswith("Replay('talk <b>', 'harness', 40 messages, ")
    assert shown["text/plain"] == str(run)
    assert "Replay of talk <b> under harness" in str(run) and "1 remark on reading the file" in str(run)
    assert "talk &lt;b&gt;" in shown["text/html"] and "<b>" not in shown["text/html"]


def test_a_long_replay_shows_the_first_compactions_and_says_how_many_more_there_are() -> None:
    assert "more compactions" in str(run_of(90))
    assert len(run_of(90)._repr_mimebundle_()["text/html"]) < 20_000


def test_the_course_has_a_mark_after_each_compaction_and_counts_requests_by_turn() -> None:
    run = run_of()
    marked = [point for point in run.course() if point[4] is not None]
    assert len(marked) == run.totals.compactions and {point[4] for point in marked} == {"compacted"}
    assert [point[2] for point in marked] == [step.tokens_after for step in run.compactions]
    assert {point[1] for point in run.course()} == {1}
    assert [point[0] for point in run.course()] == sorted(point[0] for point in run.course())


def test_a_replay_gives_the_conversation_at_its_end_as_an_agent_does() -> None:
    run = run_of()
    assert run.view() is run.final
    assert run.pressure() == run.steps[-1].pressure
    assert run.totals.final_tokens == run.final.tokens


def test_plans_that_failed_are_told_with_the_reason_of_the_first() -> None:
    class Faulty(CompactionPolicy):
        def plan(self, view: View) -> Plan:
            raise KeyError("no such setting")

    run = replay(Transcript([Message.user("a"), Message.assistant("b")], report=("line 3: dropped this",)), Faulty())
    shown = str(run)
    assert "1 of 1 plans failed, at message 1: policy 'Faulty' failed: KeyError: 'no such setting'" in shown
    assert "1 remark on reading the file" in shown
    assert "the first at message 1" in str(replay(run_of().transcript, Faulty()))
    assert "failed, " not in str(run_of())
