"""Work that must not be done in a handler: one job after the other, in a thread that ends when there is none left."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], object]


class Work:
    """Does jobs in the background, in order.

    Args:
        failed: Called with the error of a job that failed; the next one is done all the same.
    """

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_running = False

    def add(self, job: Job) -> None:
        """Queues a job."""
        self._put([job], keep=True)

    def only(self, job: Job) -> None:
        """Queues a job in place of all that have not begun."""
        self._put([job], keep=False)

    def settle(self, seconds: float) -> bool:
        """Waits until nothing is left to do; False when it takes longer."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: not self._is_running, timeout=seconds))

    def _put(self, jobs: list[Job], *, keep: bool) -> None:
        with self._changed:
            self._jobs = deque([*(self._jobs if keep else ()), *jobs])
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._run, name="harness_nb-widget", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._jobs:
                    self._is_running = False
                    self._changed.notify_all()
                    return
                job = self._jobs.popleft()
            try:
                job()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is shown where the work was asked for
                self._failed(error)
