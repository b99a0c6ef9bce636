from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness_nb.errors import StoreError
from harness_nb.store.locks import locked

HOLD = """
import sys
from pathlib import Path
from harness_nb.store.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_held_by_another_process_ends_in_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=r"a\.md' stayed locked for 0.05 s"), locked(path, timeout=0.05):
            pass
        other.communicate("\n")
    with locked(path, timeout=1):
        pass


def test_threads_hold_a_lock_one_after_the_other(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "a.md", [], []

    def work() -> None:
        for _ in range(20):
            with locked(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and len(most) == 80


def test_the_thread_that_holds_a_lock_may_take_it_again(tmp_path: Path) -> None:
    with locked(tmp_path / "a.md"), locked(tmp_path / "a.md", timeout=0):
        pass


def test_a_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a.md"):
        raise ZeroDivisionError
    with locked(tmp_path / "a.md", timeout=0):
        pass
