"""Work on an executor, taken as it finishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, as_completed
from typing import Any, TypeVar

Result = TypeVar("Result")


def as_finished(
    executor: Executor, run: Callable[..., Result], work: Mapping[int, tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """Runs a function on some arguments, and yields the number of each with its result as it finishes.

    When it is closed or fails, what has not begun is not begun any more.

    Args:
        executor: Where it runs.
        run: The function.
        work: Its arguments by number, submitted in this order.
    """
    waiting = {executor.submit(run, *given): at for at, given in work.items()}
    try:
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:
        for future in waiting:
            future.cancel()
