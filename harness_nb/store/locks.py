"""One writer at a time for a file, among all threads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from harness_nb.errors import StoreError

if TYPE_CHECKING:
    from filelock import FileLock

FOLDER = ".locks"
"""Hidden folder beside a file that holds the file's lock. It may be deleted while nothing runs."""

TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 0.005


@contextmanager
def locked(path: Path, timeout: float = TIMEOUT_SECONDS) -> Iterator[None]:
    """Holds the lock of a file. The same thread may take it again inside.

    Args:
        path: The file. It needs not exist; its folder must.
        timeout: Seconds to wait for others.

    Raises:
        StoreError: Another thread or process kept the lock for longer.
        OSError: The lock can't be made.
    """
    from filelock import Timeout

    lock = _lock(path)
    try:
        lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
    except Timeout as error:
        raise StoreError(
            f"{str(path)!r} stayed locked for {timeout:g} s.",
            "Another process is writing it: wait for it or end it, then try again.",
            subject=path,
        ) from error
    try:
        yield
    finally:
        lock.release()


@lru_cache(maxsize=1024)  # making one costs as much as taking it a few times
def _lock(path: Path) -> FileLock:
    from filelock import FileLock

    folder = path.parent / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return FileLock(folder / f"{path.name}.lock", mode=0o600)
