"""The right to write the files of a session: one process has it at a time, and it ends with the process."""

from __future__ import annotations

from pathlib import Path

from harness_nb.errors import SessionBusyError
from harness_nb.store.files import make_folder, unusable
from harness_nb.store.locks import FOLDER


class Claim:
    """A right that is held until it is released or the process ends, however it ends.

    Args:
        path: The file that the right is about. It needs not exist.
        name: What the file is, for the error.

    Raises:
        SessionBusyError: Another process has it.
        StoreError: The lock can't be made.
    """

    def __init__(self, path: Path, name: str) -> None:
        from filelock import FileLock, Timeout

        folder = path.parent / FOLDER
        try:
            make_folder(folder)
            self._lock = FileLock(folder / f"{path.name}.open", timeout=0, mode=0o600, thread_local=False)
            self._lock.acquire()
        except Timeout as error:
            raise SessionBusyError(
                f"{name} is open in another process.",
                "Close it there (agent.close(), or end that kernel), or use another session.",
                subject=path,
            ) from error
        except OSError as error:
            raise unusable(path, "write", error) from error

    def release(self) -> None:
        """Gives the right up; a second time does nothing."""
        self._lock.release()
