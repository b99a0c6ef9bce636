"""Which files of a folder are searched, and the rows that each gives: a row a line, or a row a message."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from harness_nb.core.redact import clean_unicode
from harness_nb.store.daily_log import day_of
from harness_nb.store.hits import Kind
from harness_nb.store.sessions import LOG_SUFFIX

_NOT_SEARCHED = ("memory/versions", "memory/candidates")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system knows of a file; another stamp may mean another content."""

    mtime_ns: int
    ctime_ns: int
    size: int


class Row(NamedTuple):
    """One thing that can be found."""

    line: int
    date: str | None
    text: str


def documents(folder: Path) -> dict[str, Stamp]:
    """The files below a folder that are searched, by name relative to it.

    Hidden files and folders are passed over, and so are links: a link to a file counts where that lies inside.
    """
    return dict(_walk(folder, ""))


def _walk(root: Path, prefix: str) -> Iterator[tuple[str, Stamp]]:
    try:
        with os.scandir(root / prefix) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not name.endswith(_NOT_SEARCHED):
                yield from _walk(root, f"{name}/")
        elif kind_of(name) is not None and _is_inside(entry, root):
            stamp = stamp_of(Path(entry.path))
            if stamp is not None:
                yield name, stamp


def _is_inside(entry: os.DirEntry[str], root: Path) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root)


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file, None when there is no regular file of that name."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Stamp(found.st_mtime_ns, found.st_ctime_ns, found.st_size)


def kind_of(name: str) -> Kind | None:
    """What a file of that name holds, None when it is not searched."""
    *folders, last = name.split("/")
    if last.endswith(LOG_SUFFIX):
        return "session"
    if not last.endswith(".md"):
        return None
    if "archive" in folders:
        return "archive"
    if last == "MEMORY.md":
        return "memory"
    return "topic" if day_of(last) is None else "daily"


def rows(name: str, data: bytes, first_line: int = 1) -> Iterator[Row]:
    """The rows of a file.

    Args:
        name: Its name; the kind and the day follow from it.
        data: Its bytes, or those behind the lines already known.
        first_line: Number of the first line in `data`.
    """
    lines = enumerate(data.split(b"\n"), first_line)
    if kind_of(name) == "session":
        return _message_rows(lines)
    day = day_of(name.rsplit("/", 1)[-1])
    return _line_rows(lines, day.isoformat() if day else None)


def _line_rows(lines: Iterator[tuple[int, bytes]], day: str | None) -> Iterator[Row]:
    for number, line in lines:
        text = line.decode("utf-8", "replace").removesuffix("\r")
        if text.strip():
            yield Row(number, day, text)


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
                yield Row(number, _day_of_record(record), text)


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
