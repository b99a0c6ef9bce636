"""What a large sweep costs: `HARNESS_NB_DATA=… python -m tests.benchmarks.sweep_speed`. Exits 1 when a limit is passed.

A thousand settings of `harness` over the recorded session of 990 messages in two processes, with and without future-use
survival; the part of that time that goes into counting tokens; and the same table from a cluster of dask and from one process.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness_nb import Transcript, read_transcript, sweep
from harness_nb.core.tokens import Measure
from harness_nb.lab.counting import measure_for
from harness_nb.lab.sweep import RandomSearch, Sweep

GRID = {
    "harness": {
        "trigger_messages": [0, 50, 75, 100, 150],
        "trigger_tokens": [40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000, 120_000, 140_000, 160_000],
        "keep_messages": [4, 6, 8, 10, 12, 16, 20, 24, 30, 40],
        "warn_at": [0.0, 0.9],
    }
}
METRICS = ("tokens_sent", "peak_tokens", "compactions", "model_calls", "cache_reuse")
WITH_FUTURE_USE = (*METRICS, "future_use")
SETTINGS, PROCESSES, MOST_SECONDS, MOST_WITH_FUTURE_USE = 1_000, 2, 20.0, 90.0
DRAWN = RandomSearch(trials=60, seed=1)


def main() -> int:
    """Prints the figures; 1 when a limit is passed or two tables differ."""
    transcript = read_transcript(Path(os.environ["HARNESS_NB_DATA"]) / "pi_sessions" / "before-compaction.jsonl")
    print(f"{SETTINGS:,} settings of harness over {len(transcript)} messages, {PROCESSES} processes")
    seconds, _ = timed("tokens, peak, compactions, model calls, cache reuse", transcript, METRICS)
    more, _ = timed("the same with future-use survival", transcript, WITH_FUTURE_USE)
    counting(transcript)
    same = are_the_same(transcript)
    print(f"tables of one process, two processes and dask: {'the same, byte for byte' if same else 'THEY DIFFER'}")
    return int(seconds > MOST_SECONDS or more > MOST_WITH_FUTURE_USE or not same)


def timed(what: str, transcript: Transcript, metrics: tuple[str, ...]) -> tuple[float, Sweep]:
    """Seconds of the whole sweep by the clock, and by the processor in the processes, which other work does not lengthen."""
    before, begun = _processor(), time.perf_counter()
    table = sweep(transcript, GRID, metrics=metrics, executor=PROCESSES)
    seconds, busy = time.perf_counter() - begun, _processor() - before
    assert len(table) == SETTINGS
    print(f"  {what}: {seconds:.1f} s by the clock, {busy / PROCESSES:.1f} s of each of {PROCESSES} processors")
    return seconds, table


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class TimedCounter:
    """Counts as another one does, and knows how long that took."""

    def __init__(self, measure: Measure) -> None:
        self._counter, self.name, self.seconds = measure.counter, measure.name, 0.0

    def count_text(self, text: str) -> int:
        """Tokens of a text."""
        begun = time.process_time()
        tokens = self._counter.count_text(text)
        self.seconds += time.process_time() - begun
        return tokens


def counting(transcript: Transcript) -> None:
    """The share of counting in some of the settings in one process, whose messages are counted once, and in all of them."""
    import harness_nb.lab.sweeping.batches as batches

    counter = TimedCounter(measure_for(transcript))
    kept, batches.measure_for = measure_for, lambda one: Measure(counter)  # type: ignore[attr-defined,assignment]  # imported there
    try:
        fresh = Transcript(transcript[:], name=transcript.name, model=transcript.model)
        begun = time.process_time()
        table = sweep(fresh, GRID, metrics=METRICS, search=DRAWN)
        seconds = time.process_time() - begun
    finally:
        batches.measure_for = kept  # type: ignore[attr-defined]  # as above
    once = first_count(transcript)
    each, own = (seconds - once) / len(table), max(0.0, counter.seconds - once) / len(table)
    of_all = (once * PROCESSES + own * SETTINGS) / (once * PROCESSES + each * SETTINGS)
    print(
        f"  counting: every message once in {once:.2f} s a process, then {own * 1e3:.1f} of {each * 1e3:.1f} ms a setting: "
        f"{of_all:.1%} of the whole"
    )


def first_count(transcript: Transcript) -> float:
    """Seconds in which every message is counted for the first time."""
    measure, begun = measure_for(transcript), time.process_time()
    measure.total(transcript)
    return time.process_time() - begun


def are_the_same(transcript: Transcript) -> bool:
    """Whether the table of some settings is the same from here, from two processes and from two workers of dask."""
    with _cluster() as client:
        tables = [sweep(transcript, GRID, metrics=METRICS, search=DRAWN, executor=one) for one in (None, 2, client)]
    return len({table.df.to_csv() for table in tables}) == 1


@contextmanager
def _cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(  # type: ignore[no-untyped-call]  # typed in part
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,  # type: ignore[no-untyped-call]  # typed in part
    ):
        yield client


if __name__ == "__main__":
    sys.exit(main())
