"""A file as a stream of JSON values with their places: JSON Lines, one document over many lines, an archive of such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness_nb.errors import TranscriptError
from harness_nb.lab.archives import NOT_JSON, check_archive, is_archive, parse, read_members
from harness_nb.lab.entries import Line, Place, Skipped
from harness_nb.lab.folders import is_session_folder, read_folder

_PROBE_BYTES = 8_192
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def check_readable(path: Path) -> None:
    """Checks that a path leads to a text file with something in it, an archive of conversations, or a folder of one.

    Raises:
        TranscriptError: It is missing, a folder, empty, not text, or may not be read.
    """
    if is_session_folder(path):
        return
    if path.is_dir():
        raise TranscriptError(f"{str(path)!r} is a folder.", "Give the path of one file in it.", subject=path)
    try:
        head = _head(path)
    except FileNotFoundError as error:
        raise TranscriptError(f"There is no file {str(path)!r}.", "Correct the path.", subject=path) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TranscriptError(
            f"{str(path)!r} can't be read: {reason}.", "Make it readable, or give another file.", subject=path
        ) from error
    if is_archive(head):
        check_archive(path)
        return
    if head.startswith(_UTF16_MARKS):
        raise TranscriptError(f"{str(path)!r} is encoded in UTF-16.", "Save it as UTF-8.", subject=path)
    if b"\0" in head:
        raise TranscriptError(
            f"{str(path)!r} is not a text file.", "Give a conversation as JSON or JSON Lines.", subject=path
        )
    if not head.strip():
        raise TranscriptError(f"{str(path)!r} is empty.", "Give a file with at least one message.", subject=path)


def read_lines(path: Path) -> Iterator[Line | Skipped]:
    """The JSON values of a file, a line at a time; a document over many lines is one value at line 0.

    Each conversation of an archive, and each message of a folder, is a value at the name it has there.

    Blank lines are passed over. A line that is no JSON comes as `Skipped`; a torn last line says so.
    """
    if path.is_dir():
        yield from read_folder(path)
        return
    if is_archive(_head(path)):
        yield from read_members(path)
        return
    document = _document(path)
    if document is not NOT_JSON:
        yield Line(Place(), document)
        return
    for number, line in _numbered(path):
        text, is_whole = _decode(line.strip())
        value = parse(text)
        if value is NOT_JSON:
            torn = not line.endswith(b"\n")
            yield Skipped(Place(number), "the last line, which is cut off" if torn else "a line that is not JSON")
            continue
        if not is_whole:
            yield Skipped(Place(number), "bytes that are not UTF-8; the rest of the line was read")
        yield Line(Place(number), value)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_PROBE_BYTES)


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(_UTF8_MARK)
            if line.strip():
                yield number, line


def _document(path: Path) -> Any:
    """The whole file as one JSON value, if its first line alone is none; otherwise `NOT_JSON`."""
    first = next((line.strip() for _, line in _numbered(path)), b"")
    if not first.startswith((b"[", b"{")) or parse(_decode(first)[0]) is not NOT_JSON:
        return NOT_JSON
    return parse(_decode(path.read_bytes().removeprefix(_UTF8_MARK))[0])


def _decode(line: bytes) -> tuple[str, bool]:
    """The text of some bytes, and whether all of them were UTF-8."""
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode(errors="replace"), False
