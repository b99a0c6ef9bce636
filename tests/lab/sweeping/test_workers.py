"""Where batches run: here, in processes, on dask; a worker that is killed costs no result."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, presets, sweep
from harness_nb.core.requests import Ask
from harness_nb.errors import ConfigError
from harness_nb.lab.run import Replay
from harness_nb.lab.sweep import Sweep

GRID = {"harness": {"trigger_messages": [10, 20, 30], "keep_messages": [4, 5, 6, 7, 8, 9, 10, 12]}, "eney": {}}


def talk(turns: int = 30, name: str = "talk") -> Transcript:
    said = []
    for at in range(turns):
        said += [Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}: {at * 7}. " * 20)]
    return Transcript(said, name=name)


TALKS = [talk(), talk(12, "short")]


def swept(**how: Any) -> Sweep:
    return sweep(TALKS, GRID, window=8_000, **how)


def as_bytes(table: Sweep) -> bytes:
    return table.df.to_csv(index=False).encode()


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@contextmanager
def counted() -> Iterator[int]:
    yield 2


@pytest.mark.parametrize("make", [threads, counted])
def test_the_table_is_the_same_byte_for_byte_whatever_runs_it(make: Any) -> None:
    with make() as executor:
        there = swept(executor=executor)
    assert there.records == swept().records
    assert as_bytes(there) == as_bytes(swept())
    assert not active_children()


class KillsItsProcess:
    """A metric that ends the process it is worked out in, the first time."""

    __name__ = "kills"

    def __init__(self, mark: Path, *, always: bool = False) -> None:
        self.mark, self.always = mark, always

    def __call__(self, run: Replay) -> float:
        if self.always or not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return len(run.compactions)


def test_a_process_that_is_killed_costs_no_result(tmp_path: Path) -> None:
    table = swept(executor=2, metrics=["tokens_sent", KillsItsProcess(tmp_path / "killed")])
    assert (tmp_path / "killed").exists()
    assert [one["tokens_sent"] for one in table.records] == [one["tokens_sent"] for one in swept().records]
    assert [one["kills"] for one in table.records] == [one["compactions"] for one in swept().records]


def test_processes_that_are_killed_again_and_again_end_the_sweep(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="terminated abruptly"):
        sweep(talk(4), {"eney": {}}, executor=1, metrics=[KillsItsProcess(tmp_path / "killed", always=True)])
    assert not active_children()


def test_a_policy_of_ones_own_goes_to_other_processes_with_its_class() -> None:
    @presets.register("keep-few-there")
    class KeepFew(CompactionPolicy):
        def __init__(self, keep: int = 8) -> None:
            self.keep = keep

        def plan(self, view: Any) -> Any:
            if view.tokens < 1_000:
                return view.unchanged("short")
            old, recent = view.cut(keep_messages=self.keep)
            return view.becomes([edits.summary(view.reply(Ask.summary(old)), of=old), *recent], "kept few")

    try:
        there = sweep(talk(), {"keep-few-there": {"keep": [2, 8]}}, window=8_000, executor=1)
        assert there.records == sweep(talk(), {"keep-few-there": {"keep": [2, 8]}}, window=8_000).records
    finally:
        presets.unregister("keep-few-there")
    assert all(one["compactions"] for one in there.records)


@pytest.mark.parametrize("executor", [0, -1, True, "two", object()])
def test_what_runs_nothing_is_refused(executor: Any) -> None:
    with pytest.raises(ConfigError, match="runs nothing"):
        swept(executor=executor)
