"""Text files: UTF-8, readable by their owner only, replaced as a whole or appended to in one write.

No line end is translated. What is written is valid UTF-8 whatever the text holds.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness_nb.core.redact import clean_unicode
from harness_nb.errors import StoreError
from harness_nb.store.locks import locked

_OWNER_ONLY = 0o600
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)
_SECONDS_IN_USE = 86_400
_BINARY = getattr(os, "O_BINARY", 0)  # on Windows, line ends would be translated without it


def read_text(path: Path) -> str | None:
    """The text of a file, None when there is no such file; bytes that are not UTF-8 become U+FFFD.

    Raises:
        StoreError: The file is there and can't be read.
    """
    data = read_bytes(path)
    return None if data is None else data.decode("utf-8", "replace")


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a file, None when there is no such file.

    Raises:
        StoreError: The file is there and can't be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unusable(path, "read", error) from error


def write_atomic(path: Path, text: str) -> None:
    """Replaces a file: a reader sees the old text or the new one, and after a failure the old one is there.

    Raises:
        StoreError: The file can't be written.
    """
    data = clean_unicode(text).encode()
    path = Path(os.path.realpath(path))  # where the name is a link, the file that it leads to is replaced
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    with _reported(path):
        make_folder(path.parent)
        try:
            _write_new(temporary, data, _mode_of(path))
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def leftovers(folder: Path) -> list[Path]:
    """Files that a process was writing when it was killed, at any depth; those of the last day may be in use still."""
    before = time.time() - _SECONDS_IN_USE
    found = [path for path in folder.rglob(".*.tmp") if _TEMPORARY.fullmatch(path.name)]
    return sorted(path for path in found if _changed_at(path) < before)


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # its writer is done with it
        return math.inf


def append_text(path: Path, text: str) -> None:
    """Appends to a file in one write under its lock; what is appended begins on a line of its own.

    A last line without an end, as a crash leaves it, is ended first.

    Raises:
        StoreError: The file can't be written, or stays locked.
    """
    data = clean_unicode(text).encode()
    with _reported(path):
        make_folder(path.parent)
        with locked(path):
            _append(path, data)


def append_claimed(path: Path, text: str) -> None:
    """`append_text` for a file that nobody else may write, so that no lock is needed.

    Raises:
        StoreError: The file can't be written.
    """
    data = clean_unicode(text).encode()
    with _reported(path):
        try:
            _append(path, data)
        except FileNotFoundError:
            make_folder(path.parent)
            _append(path, data)


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, for their owner only, where they are missing."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def unusable(path: Path, verb: str, error: OSError) -> StoreError:
    """The error that says which path can't be used, and what to do."""
    reason = error.strerror or type(error).__name__
    return StoreError(
        f"{str(path)!r} can't be {'read' if verb == 'read' else 'written'}: {reason}.",
        "Correct its permissions or its kind, free some space, or choose another workspace.",
        subject=path,
    )


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unusable(path, "write", error) from error


def _mode_of(path: Path) -> int:
    """Permissions of the file where it is there already, as its owner may have shared it."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return _OWNER_ONLY


def _write_new(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _OWNER_ONLY)
    try:
        if mode != _OWNER_ONLY:
            os.chmod(path, mode)
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _append(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, _OWNER_ONLY)
    try:
        _write_all(descriptor, data if _ends_a_line(descriptor) else b"\n" + data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _ends_a_line(descriptor: int) -> bool:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size == 0:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"
