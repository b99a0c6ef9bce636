from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.memory import maintenance_thread as module
from harness_nb.memory.design import TwoLayers
from harness_nb.memory.maintenance_thread import PREFIX, end_all, maintain, release, thread_of, wake
from harness_nb.model.offline import OfflineModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import noted

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    end_all()


def threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith(PREFIX)]


def until(condition: object, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


def design(folder: Path, index: MemoryIndex | None = None, clock: Clock | None = None) -> TwoLayers:
    store = Workspace(folder, clock=clock or Clock.fixed(NOW))
    return TwoLayers(store, index or MemoryIndex.of(store), OfflineModel())


def test_r088_ten_agents_on_one_workspace_have_one_thread(store: Workspace, index: MemoryIndex, tmp_path: Path) -> None:
    made = [design(store.path, index) for _ in range(10)]
    for one in made:
        maintain(one.maintenance)
    assert len(threads()) == 1 and threads()[0].daemon
    link = tmp_path / "link"
    link.symlink_to(store.path)
    maintain(design(link, index).maintenance)
    assert len(threads()) == 1
    (tmp_path / "other").mkdir()
    other = design(tmp_path / "other")
    maintain(other.maintenance)
    assert len(threads()) == 2
    other.index.close()


def test_r088_reloading_the_module_leaves_the_one_thread(store: Workspace, index: MemoryIndex) -> None:
    first = design(store.path, index)
    maintain(first.maintenance)
    (thread,) = threads()
    again = importlib.reload(module)
    second = design(store.path, index)
    again.maintain(second.maintenance)
    assert threads() == [thread]
    again.release(first.maintenance)
    again.release(second.maintenance)
    assert until(lambda: not threads())


def test_the_thread_ends_with_the_last_of_its_agents_and_another_can_begin(
    store: Workspace, index: MemoryIndex
) -> None:
    made = [design(store.path, index) for _ in range(2)]
    for one in made:
        maintain(one.maintenance)
    release(made[0].maintenance)
    assert len(threads()) == 1
    release(made[1].maintenance)
    assert until(lambda: not threads())
    release(made[1].maintenance)
    maintain(made[0].maintenance)
    assert len(threads()) == 1


def test_the_thread_ends_when_nobody_knows_its_agents_any_more(store: Workspace, index: MemoryIndex) -> None:
    one = design(store.path, index)
    maintain(one.maintenance)
    del one
    assert until(lambda: gc.collect() >= 0 and not threads())


def test_what_is_due_is_done_in_the_background_by_the_newest(store: Workspace, index: MemoryIndex) -> None:
    moment = [NOW]
    clock = Clock(read=lambda: moment[0])
    noted(store, "a fact about the lab")
    old, new = design(store.path, index, clock), design(store.path, index, clock)
    for one in (old, new):
        maintain(one.maintenance)
    new.maintenance.request(NOW)
    assert store.curated.read() == ""
    moment[0] = NOW + timedelta(minutes=31)
    wake(new.maintenance)
    assert until(lambda: new.maintenance.reports)
    assert "a fact about the lab" in store.curated.read() and old.maintenance.reports == []


def test_r089_a_clock_that_fails_ends_no_thread(store: Workspace, index: MemoryIndex) -> None:
    faults = [ZeroDivisionError("no time"), None]

    def read() -> datetime:
        if threading.current_thread().name.startswith(PREFIX) and faults and (fault := faults.pop(0)):
            raise fault
        return NOW

    one = design(store.path, index, Clock(read=read))
    maintain(one.maintenance)
    assert until(lambda: one.maintenance.fault == "ZeroDivisionError: no time")
    assert len(threads()) == 1 and one.maintenance.fault in one.maintenance.status().warnings


SCRIPT = """
import sys
from harness_nb import HarnessAgent
for _ in range(10):
    agent = HarnessAgent(workspace=sys.argv[1], session="s1")
    agent.ask("My lab uses Python 3.11.")
import threading
print(sum(one.name.startswith("harness_nb-maintenance ") for one in threading.enumerate()))
"""


def test_r088_a_script_of_many_agents_has_one_thread_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "ws")],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_there_is_no_thread_before_it_is_asked_for(store: Workspace) -> None:
    assert thread_of(store.path) is None
