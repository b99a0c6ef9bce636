"""Where batches run: here, in processes of our own, on somebody's executor, or on a cluster of dask."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

from harness_nb.errors import ConfigError
from harness_nb.lab.sweeping.batches import Case, Packed, Result, packed, run_batch
from harness_nb.lab.sweeping.trials import Trial

Workers = Executor | int | None
"""An executor or what has its `submit`, such as a client of dask; a number of processes; or None for this one alone."""

_STARTS_WITHOUT_A_RESULT = 3
"""How often processes are started again without any result between: what kills them is a batch then."""


class Batch(NamedTuple):
    """Trials on one transcript.

    Attributes:
        case: Which of the cases.
        numbers: Numbers of the trials.
        trials: The trials.
    """

    case: int
    numbers: tuple[int, ...]
    trials: tuple[Trial, ...]


Done = tuple[Batch, list[Result]]


def finished(cases: Sequence[Case], batches: Sequence[Batch], workers: Workers) -> Iterator[Done]:
    """Runs batches and yields each with its results as it finishes.

    When it is closed or fails, what has not begun is not begun any more.

    Raises:
        ConfigError: The workers are none, or something of the user's own can't be sent to them.
    """
    if workers is None:
        return ((batch, cases[batch.case].results(batch.trials)) for batch in batches)
    if isinstance(workers, int) and not isinstance(workers, bool) and workers > 0:
        return _in_processes(cases, batches, workers)
    if not hasattr(workers, "submit"):
        raise ConfigError(
            f"executor={workers!r} runs nothing.",
            "Give a number of processes, an executor, a client of dask, or None.",
            subject="executor",
        )
    return _submitted(workers, {at: packed(cases[at]) for at in {batch.case for batch in batches}}, batches)


def _in_processes(cases: Sequence[Case], batches: Sequence[Batch], count: int) -> Iterator[Done]:
    """Processes of our own; when one is killed, others take its place and do what was not finished."""
    sent = {at: packed(cases[at]) for at in {batch.case for batch in batches}}
    left, starts = list(batches), 0
    while left:
        with processes(count) as pool:
            try:
                for batch, results in _submitted(pool, sent, left):
                    left.remove(batch)
                    starts = 0
                    yield batch, results
            except BrokenProcessPool:
                starts += 1
                if starts == _STARTS_WITHOUT_A_RESULT:
                    raise


def processes(count: int) -> ProcessPoolExecutor:
    """Processes of our own, started afresh; an interrupt is left to the one that started them, which then ends them."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=_leave_interrupts)


def _leave_interrupts() -> None:
    """Leaves an interrupt to the process that started this one, which then ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _submitted(executor: Any, sent: dict[int, Packed], batches: Iterable[Batch]) -> Iterator[Done]:
    is_dask = _is_dask(executor)
    given = (
        {at: executor.submit(_same, one, key=f"harness-nb-{one.digest}") for at, one in sent.items()}
        if is_dask
        else sent
    )
    options = {"pure": False} if is_dask else {}
    waiting = {executor.submit(run_batch, given[one.case], one.trials, **options): one for one in batches}
    try:
        for future in _as_completed(waiting, is_dask=is_dask):
            yield waiting[future], future.result()
    finally:
        for future in waiting:
            if not future.done():
                future.cancel()


def _is_dask(executor: Any) -> bool:
    return type(executor).__module__.partition(".")[0] == "distributed"


def _same(given: Packed) -> Packed:
    """What is given: as a task of its own, a cluster has it once a worker and makes it again when the worker is lost."""
    return given


def _as_completed(futures: Iterable[Future[Any]], *, is_dask: bool) -> Iterator[Future[Any]]:
    if is_dask:
        from distributed import as_completed as completed

        return iter(completed(list(futures)))  # type: ignore[no-untyped-call]  # typed in part
    return as_completed(list(futures))
