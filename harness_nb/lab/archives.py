"""Archives of conversations: ZIP files with a JSON document for each under `samples/`, as inspect_ai writes them."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from harness_nb.errors import TranscriptError
from harness_nb.lab.entries import Line, Place, Skipped

NOT_JSON = object()
"""What `parse` gives for a text that is no JSON."""

_MARK = b"PK\x03\x04"
_FOLDER = "samples/"
_SPOILT = (zipfile.BadZipFile, zlib.error, EOFError, OSError)


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so is an archive."""
    return head.startswith(_MARK)


def check_archive(path: Path) -> None:
    """Checks that an archive is whole and holds conversations that can be unpacked.

    Raises:
        TranscriptError: It is not, or is compressed in a way that nothing installed here knows.
    """
    try:
        names = _checked(path)
    except NotImplementedError as error:
        raise TranscriptError(
            f"{str(path)!r} is compressed in a way that this Python does not know.",
            "Install zipfile-zstd, or convert the file with `inspect log convert --to json --output-dir json`.",
            subject=path,
        ) from error
    except _SPOILT as error:
        raise TranscriptError(
            f"{str(path)!r} is a damaged archive: {error}.", "Get it again from where it was made.", subject=path
        ) from error
    if not names:
        raise TranscriptError(
            f"{str(path)!r} is an archive without conversations.", "Unpack it and give one file of it.", subject=path
        )


def _checked(path: Path) -> list[str]:
    """The names of the conversations, after a look into the first.

    Python unpacks Zstandard by itself from 3.14 on; before, `zipfile-zstd` lets it, which inspect_ai brings along.
    """
    with zipfile.ZipFile(path) as archive:
        names = _names(archive)
        if not names:
            return []
        try:
            archive.open(names[0]).close()
        except NotImplementedError:
            with suppress(ImportError):
                import_module("zipfile_zstd")
            archive.open(names[0]).close()
    return names


def read_members(path: Path) -> Iterator[Line | Skipped]:
    """The documents of an archive, each at its name."""
    with zipfile.ZipFile(path) as archive:
        for name in _names(archive):
            place = Place(member=name)
            try:
                value = parse(archive.read(name).decode("utf-8", "replace"))
            except _SPOILT:
                value = NOT_JSON
            yield Skipped(place, "a damaged file") if value is NOT_JSON else Line(place, value)


def parse(text: str) -> Any:
    """The JSON value of a text, or `NOT_JSON`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def _names(archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if name.startswith(_FOLDER) and name.endswith(".json")]
