"""A sweep on a real cluster of dask: two worker processes on loopback, one of which is killed while they work."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import Message, Transcript, sweep
from harness_nb.lab.run import Replay
from harness_nb.lab.sweep import Sweep

distributed = pytest.importorskip("distributed", reason="The extra `distributed` is not installed.")

GRID = {"harness": {"trigger_messages": [10, 20, 30], "keep_messages": [4, 5, 6, 7, 8, 9, 10, 12]}, "eney": {}}


def talk(turns: int = 30, name: str = "talk") -> Transcript:
    said = []
    for at in range(turns):
        said += [Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}: {at * 7}. " * 20)]
    return Transcript(said, name=name)


def swept(**how: Any) -> Sweep:
    return sweep([talk(), talk(12, "short")], GRID, window=8_000, **how)


@pytest.fixture
def client() -> Iterator[Any]:
    settings = {"distributed.worker.daemon": False, "distributed.admin.tick.interval": "500 ms"}
    import dask

    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


class KillsAWorker:
    """A metric that kills the worker it is worked out in, once."""

    __name__ = "kills"

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, run: Replay) -> float:
        if run.transcript.name == "short" and not self.mark.exists():
            self.mark.write_text(str(os.getpid()), encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)
        return len(run.compactions)


def test_the_table_of_a_cluster_is_the_same_byte_for_byte_also_when_a_worker_is_killed(
    client: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "killed"
    metrics = ["tokens_sent", "cache_reuse", KillsAWorker(mark)]
    before = {one["pid"] for one in client.run(lambda: {"pid": os.getpid()}).values()}
    told: list[int] = []
    there = swept(executor=client, metrics=metrics, folder=tmp_path, progress=lambda done, total: told.append(done))
    assert int(mark.read_text(encoding="utf-8")) in before - {os.getpid()}
    here = swept(metrics=metrics)
    in_processes = swept(metrics=metrics, executor=2)
    assert there.records == here.records == in_processes.records
    assert there.df.to_csv().encode() == here.df.to_csv().encode() == in_processes.df.to_csv().encode()
    assert told == sorted(told) and told[-1] == len(there) == 50
    assert swept(metrics=metrics, folder=tmp_path).resumed == 50
