"""Agents in processes of their own, which a test can kill."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 30.0


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    """Runs Python code in a process, in that folder; it prints `ready` when the test may go on."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def wait_for(process: subprocess.Popen[str], word: str = "ready") -> None:
    """Waits until the process prints that word."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if line != word:
        _, errors = process.communicate(timeout=SECONDS)
        raise AssertionError(f"the process printed {line!r}: {errors}")


def end(process: subprocess.Popen[str]) -> None:
    """Kills a process as `kill -9` does, and reads what it left."""
    process.kill()
    process.communicate(timeout=SECONDS)


def wait_until_file(path: Path) -> None:
    """Waits until a file is there."""
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.005)


@contextmanager
def holding_session(workspace: Path, session: str) -> Iterator[None]:
    """Another process has the session open, after one turn."""
    code = f"""
from harness_nb import HarnessAgent, ScriptedModel, MemoryConfig
agent = HarnessAgent(model=ScriptedModel(chat=["ok"]), workspace={str(workspace)!r}, session={session!r},
                     memory=MemoryConfig(flush="never"))
agent.ask("from the other process")
print("ready", flush=True)
input()
"""
    process = start(code, workspace.parent)
    try:
        wait_for(process)
        yield
    finally:
        end(process)
