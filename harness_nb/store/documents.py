"""Which files of a folder are searched, and the rows that each gives: a row a line, or a row a message."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import Any

from harness_nb.core.redact import clean_unicode
from harness_nb.store.daily_log import day_of
from harness_nb.store.hits import Kind
from harness_nb.store.sessions import LOG_SUFFIX

_NOT_SEARCHED = ("memory/versions", "memory/candidates")
_SUFFIXES = (".md", LOG_SUFFIX)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system knows of a file; another stamp may mean another content."""

    mtime_ns: int
    ctime_ns: int
    size: int


Row = tuple[int, str | None, str]
"""One thing that can be found: number of its line, its day, its text."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What lies below a folder.

    Attributes:
        files: The files that are searched, by name relative to the folder.
        folders: The folders looked into, by name with a slash at the end, empty for the folder itself. A change of its
            stamp means that something in it was made, renamed or removed.
    """

    files: dict[str, Stamp]
    folders: dict[str, Stamp]


def survey(folder: Path) -> Survey:
    """The files below a folder that are searched, by name, and the folders that they lie in.

    Hidden files and folders are passed over, and so are links: a link to a file counts where that lies inside.
    """
    found = Survey({}, {})
    _walk(folder, "", found)
    return found


def documents(folder: Path) -> dict[str, Stamp]:
    """The files below a folder that are searched, by name relative to it."""
    return survey(folder).files


def _walk(root: Path, prefix: str, found: Survey) -> None:
    try:
        state = os.stat(root / prefix)
        with os.scandir(root / prefix) as entries:
            inside = sorted(entries, key=_name)
    except OSError:
        return
    found.folders[prefix] = _stamp(state)  # taken first: what changes from now on shows as another stamp
    for entry in inside:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not name.endswith(_NOT_SEARCHED):
                _walk(root, f"{name}/", found)
        elif name.endswith(_SUFFIXES) and _is_inside(entry, root) and (stamp := stamp_of(entry.path)) is not None:
            found.files[name] = stamp


_name = attrgetter("name")


def _is_inside(entry: os.DirEntry[str], root: Path) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root)


def stamp_of(path: Path | str) -> Stamp | None:
    """The stamp of a file, None when there is no regular file of that name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _stamp(found)


def has_stamp(path: str, stamp: Stamp) -> bool:
    """Whether a file or folder still has a stamp."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size) == (stamp.mtime_ns, stamp.ctime_ns, stamp.size)


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_mtime_ns, found.st_ctime_ns, found.st_size)


def kind_of(name: str) -> Kind | None:
    """What a file of that name holds, None when it is not searched."""
    *folders, last = name.split("/")
    if last.endswith(LOG_SUFFIX):
        return "session"
    if not last.endswith(_SUFFIXES):
        return None
    if "archive" in folders:
        return "archive"
    if last == "MEMORY.md":
        return "memory"
    return "topic" if day_of(last) is None else "daily"


def rows(name: str, data: bytes, first_line: int = 1) -> Iterable[Row]:
    """The rows of a file.

    Args:
        name: Its name; the kind and the day follow from it.
        data: Its bytes, or those behind the lines already known.
        first_line: Number of the first line in `data`.
    """
    if kind_of(name) == "session":
        return _message_rows(enumerate(data.split(b"\n"), first_line))
    day = day_of(name.rsplit("/", 1)[-1])
    date = day.isoformat() if day else None
    lines = enumerate(data.decode("utf-8", "replace").split("\n"), first_line)
    return [(number, date, line.removesuffix("\r")) for number, line in lines if line and not line.isspace()]


def _message_rows(lines: Iterator[tuple[int, bytes]]) -> Iterator[Row]:
    for number, line in lines:
        if b'"message"' not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and record.get("kind") == "message":
            text = clean_unicode(_text_of(record.get("message")))
            if text.strip():
                yield number, _day_of_record(record), text


def _text_of(message: object) -> str:
    """All text of a recorded message, by lines."""
    if not isinstance(message, Mapping):
        return ""
    wire = message.get("wire", message)
    content = wire.get("content") if isinstance(wire, Mapping) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type", "text") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _day_of_record(record: Mapping[str, Any]) -> str | None:
    time = record.get("time")
    try:
        return date.fromisoformat(time[:10]).isoformat() if isinstance(time, str) else None
    except ValueError:
        return None
