"""The lock of a run over sessions: one process has it; that of a dead or stuck one is taken over, once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from harness_nb.store.files import make_folder, read_text, unusable

_NAME = ".extraction.lock"


@contextmanager
def run_lock(folder: Path, now: datetime, stale: timedelta) -> Iterator[bool]:
    """Holds the lock; False where another run has it.

    Args:
        folder: Where it lies.
        now: The aware time.
        stale: Age from which a lock no longer counts.

    Raises:
        StoreError: It can't be made.
    """
    path = folder / _NAME
    try:
        make_folder(folder)
        is_mine = _taken(path, now) or (_is_stale(path, now, stale) and _stolen(path, now))
    except OSError as error:
        raise unusable(path, "write", error) from error
    try:
        yield is_mine
    finally:
        if is_mine:
            with suppress(OSError):
                path.unlink()


def _taken(path: Path, now: datetime) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), "started": now.isoformat()}, file)
    return True


def _stolen(path: Path, now: datetime) -> bool:
    path.unlink(missing_ok=True)
    return _taken(path, now)


def _is_stale(path: Path, now: datetime, stale: timedelta) -> bool:
    """Whether a lock says nothing, is old, or belongs to a process that ended."""
    try:
        record = json.loads(read_text(path) or "")
        owner, started = int(record["pid"]), datetime.fromisoformat(record["started"])
        return now - started >= stale or not _is_alive(owner)
    except (ValueError, KeyError, TypeError, RecursionError):
        return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
