"""A coroutine run to its end from blocking code, wherever that runs: a cell, a script or a thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

Blocking = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine to its end and gives its result."""


def in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on an event loop of its own in a thread of its own, and waits for it.

    So it works where a loop is running already, as in a notebook.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="harness_nb-blocking") as pool:
        return pool.submit(asyncio.run, work).result()
