"""Sweeps: a table of trials, the same whatever runs it, that goes on where it was stopped."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, presets, replay, sweep
from harness_nb.core.messages import Usage
from harness_nb.core.requests import Ask
from harness_nb.errors import ConfigError
from harness_nb.lab.run import Replay

GRID = {"harness": {"trigger_messages": [10, 20], "keep_messages": [4, 6]}, "eney": {}}


def talk(turns: int = 30, name: str = "talk") -> Transcript:
    said = []
    for at in range(turns):
        said += [Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}: {at * 7}. " * 20)]
    return Transcript(said, name=name)


def compactions(run: Replay) -> float:
    return len(run.compactions)


def test_a_sweep_has_a_row_for_each_combination_and_its_figures_are_those_of_the_replay() -> None:
    found = sweep(talk(), GRID, metrics=["compactions", "tokens_sent"], window=8_000)
    assert len(found) == 5
    assert list(found.df.columns) == [
        "transcript", "policy", "window", "trigger_messages", "keep_messages", "compactions", "tokens_sent", "error",
    ]  # fmt: skip
    for row in found.records[:4]:
        settings = {name: row[name] for name in ("trigger_messages", "keep_messages")}
        run = replay(talk(), presets.get("harness", **settings), window=8_000, model=None)
        assert (row["compactions"], row["tokens_sent"]) == (run.totals.compactions, run.totals.tokens_sent)
    assert found.df["keep_messages"].isna().tolist() == [False] * 4 + [True]


class _StopsAfterOne(Executor):
    """Runs one batch, then breaks, as a machine may."""

    def __init__(self) -> None:
        self.asked = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.asked += 1
        if self.asked > 1:
            future.set_exception(RuntimeError("the worker is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_sweep_that_broke_goes_on_where_it_was(tmp_path: Path) -> None:
    grid = {"harness": {"keep_messages": list(range(4, 16)), "trigger_messages": 20}}
    whole = sweep(talk(), grid, window=8_000)
    with pytest.raises(RuntimeError, match="gone"):
        sweep(talk(), grid, window=8_000, executor=_StopsAfterOne(), folder=tmp_path)
    again = sweep(talk(), grid, window=8_000, folder=tmp_path)
    assert again.records == whole.records
    assert again.resumed in (0, 8)  # the batch that was done, unless the break was seen first
    assert sweep(talk(), grid, window=8_000, folder=tmp_path).resumed == 12
    assert sweep(talk(31), grid, window=8_000, folder=tmp_path).resumed == 0


def test_a_refused_setting_is_a_row_that_says_so_and_the_others_run() -> None:
    found = sweep(talk(), {"harness": {"keep_messages": [-1, 4]}}, metrics=["compactions"], window=8_000)
    assert "keep_messages=-1" in found.records[0]["error"]
    assert found.records[0]["compactions"] is None
    assert found.records[1]["error"] == ""


def test_a_policy_of_ones_own_is_swept_by_its_name() -> None:
    @presets.register("keep-few")
    class KeepFew(CompactionPolicy):
        def __init__(self, keep: int = 8, at: int = 1_000) -> None:
            self.keep, self.at = keep, at

        def plan(self, view: Any) -> Any:
            if view.tokens < self.at:
                return view.unchanged("short")
            old, recent = view.cut(keep_messages=self.keep)
            return view.becomes([edits.summary(view.reply(Ask.summary(old)), of=old), *recent], "kept few")

    try:
        found = sweep(talk(), {"keep-few": {"keep": [2, 8], "at": 1_000}}, metrics=[compactions], window=8_000)
    finally:
        presets.unregister("keep-few")
    assert list(found.df["keep"]) == [2, 8]
    assert all(row["compactions"] > 0 for row in found.records)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"transcripts": [], "grid": GRID}, "nothing to sweep"),
        ({"transcripts": talk(2), "grid": {}}, "nothing to sweep"),
        ({"transcripts": talk(2), "grid": ["harness", "eney"]}, r"is no grid.\nGive settings for each policy"),
        ({"transcripts": talk(2), "grid": {"keep_messages": [4, 8]}}, "is no grid"),
        ({"transcripts": talk(2), "grid": GRID, "metrics": ["compaction"]}, "Did you mean 'compactions'"),
        ({"transcripts": talk(2), "grid": GRID, "metrics": [lambda run: 1]}, "no name"),
    ],
)
def test_what_can_not_be_swept_is_refused(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        sweep(given.pop("transcripts"), given.pop("grid"), **given)


def test_a_metric_or_policy_that_was_written_anew_is_worked_out_anew(tmp_path: Path) -> None:
    def half() -> Any:
        def share(run: Replay) -> float:
            return len(run.compactions) / 2

        return share

    def double() -> Any:
        def share(run: Replay) -> float:
            return len(run.compactions) * 2

        return share

    first = sweep(talk(), GRID, metrics=[half()], window=8_000, folder=tmp_path)
    assert sweep(talk(), GRID, metrics=[half()], window=8_000, folder=tmp_path).resumed == 5
    second = sweep(talk(), GRID, metrics=[double()], window=8_000, folder=tmp_path)
    assert second.resumed == 0
    assert [one["share"] for one in second.records] == [4 * one["share"] for one in first.records]

    for at in (20, 10):
        plan = _cutting(at)
        presets.register("cuts-again", plan)
        try:
            assert sweep(talk(), {"cuts-again": {}}, window=8_000, folder=tmp_path).resumed == 0
            assert sweep(talk(), {"cuts-again": {}}, window=8_000, folder=tmp_path).resumed == 1
        finally:
            presets.unregister("cuts-again")


def _cutting(at: int) -> Any:
    def plan(view: Any) -> Any:
        return view.becomes(view.input[-at:], "cut") if len(view.input) > 2 * at else view.unchanged("short")

    return plan


def test_a_result_of_the_transcript_with_other_bills_is_not_taken_for_it(tmp_path: Path) -> None:
    bare = talk(10)
    billed = Transcript(replace(one, usage=Usage(500, 9)) if one.role == "assistant" else one for one in bare)
    sweep(bare, {"eney": {}}, folder=tmp_path)
    assert sweep(billed, {"eney": {}}, folder=tmp_path).resumed == 0


def test_an_interrupt_keeps_what_was_done_and_begins_nothing_more(tmp_path: Path) -> None:
    def interrupts(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    grid = {"harness": {"keep_messages": list(range(4, 24)), "trigger_messages": 30}}
    with pytest.raises(KeyboardInterrupt):
        sweep(talk(), grid, window=8_000, folder=tmp_path, progress=interrupts)
    assert sweep(talk(), grid, window=8_000, folder=tmp_path).resumed == 8


def test_progress_is_a_bar_where_one_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    sweep(talk(4), {"eney": {}}, progress=True)
    assert "1/1" in capsys.readouterr().err
