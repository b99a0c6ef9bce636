"""The one thread that keeps a workspace in order while the kernel lives, whoever asks for it and however often.

The thread is found by its name among those that run, so that it stays the only one when this module is loaded again. It
works for the newest of those that want it, knows them weakly, and ends when none is left or the kernel ends.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from pathlib import Path
from typing import Any

from harness_nb.memory.maintenance import Maintenance

PREFIX = "harness_nb-maintenance "
"""Begins the name of each such thread; the workspace's real path follows."""

MOST_SECONDS = 30.0
"""Longest sleep, as clocks are set and computers sleep."""

_LEAST_SECONDS = 0.05
_JOIN_SECONDS = 2.0

_starting = threading.Lock()


class MaintenanceThread(threading.Thread):
    """Calls `tick` when something is due.

    Args:
        path: Real path of the workspace.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(name=f"{PREFIX}{path}", daemon=True)
        self.guard = threading.Lock()
        self.is_ended = False
        self._wake = threading.Event()
        self._members: list[weakref.ref[Maintenance]] = []

    def join_in(self, maintenance: Maintenance) -> bool:
        """Takes one more in, which it works for from now on; False when it is about to end."""
        with self.guard:
            if self.is_ended:
                return False
            self._members = [ref for ref in self._members if ref() not in (None, maintenance)]
            self._members.append(weakref.ref(maintenance, lambda _: self._wake.set()))
        self._wake.set()
        return True

    def leave(self, maintenance: Maintenance) -> None:
        """Works for this one no more."""
        with self.guard:
            self._members = [ref for ref in self._members if ref() not in (None, maintenance)]
        self._wake.set()

    def end(self) -> None:
        """Ends after what is under way."""
        with self.guard:
            self.is_ended = True
        self._wake.set()

    def wake(self) -> None:
        """Looks at once whether something is due."""
        self._wake.set()

    def run(self) -> None:
        """Ticks until nobody is left."""
        while self._goes_on():
            self._wake.wait(self._tick())
            self._wake.clear()

    def _goes_on(self) -> bool:
        with self.guard:
            self.is_ended = self.is_ended or not any(ref() is not None for ref in self._members)
            return not self.is_ended

    def _newest(self) -> Maintenance | None:
        with self.guard:
            return next((found for ref in reversed(self._members) if (found := ref()) is not None), None)

    def _tick(self) -> float:
        """Does what is due; seconds to sleep then."""
        maintenance = self._newest()
        if maintenance is None:
            return 0.0
        try:
            clock = maintenance.workspace.clock
            maintenance.tick(clock.now())
            left = (maintenance.schedule().next_run - clock.now()).total_seconds()
        except Exception as error:  # noqa: BLE001 - whatever a user's clock or hook raises, the schedule goes on
            maintenance.fault = f"{type(error).__name__}: {error}"
            return MOST_SECONDS
        return min(max(left, _LEAST_SECONDS), MOST_SECONDS)


def maintain(maintenance: Maintenance) -> None:
    """Has a workspace kept in order from now on, by the thread that does so already or by a new one."""
    path = maintenance.workspace.path
    with _starting:
        thread = thread_of(path)
        if thread is not None and thread.join_in(maintenance):
            return
        thread = MaintenanceThread(path)
        thread.join_in(maintenance)
        thread.start()


def wake(maintenance: Maintenance) -> None:
    """Has the thread look at once, where there is one."""
    thread = thread_of(maintenance.workspace.path)
    if thread is not None:
        thread.wake()


def release(maintenance: Maintenance) -> None:
    """Ends what `maintain` began; the thread ends with the last one, after what is under way."""
    thread = thread_of(maintenance.workspace.path)
    if thread is not None:
        thread.leave(maintenance)


def thread_of(path: Path) -> Any:
    """The thread of a workspace, or None; it may be of an earlier loading of this module."""
    name = f"{PREFIX}{path}"
    return next((one for one in threading.enumerate() if one.name == name and not getattr(one, "is_ended", True)), None)


def end_all() -> None:
    """Ends all such threads and waits a moment for them."""
    threads: list[Any] = [one for one in threading.enumerate() if one.name.startswith(PREFIX)]
    for thread in threads:
        thread.end()
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(_JOIN_SECONDS)


atexit.register(end_all)
