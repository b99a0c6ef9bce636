"""Data sets with questions, read from a path that you give; nothing is downloaded and nothing is bundled.

`load` recognises LoCoMo, BEAM, LongMemEval and τ-bench by content. What of a file is not as it should be is handled and
counted in the data set's `report`; its licence is shown with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from harness_nb.errors import TranscriptError
from harness_nb.lab.datasets import beam, locomo, longmemeval, tau_bench
from harness_nb.lab.datasets.findings import Finding, Findings
from harness_nb.lab.datasets.record import Action, Conversation, Dataset, Question, Terms
from harness_nb.lab.entries import UNREADABLE, Line
from harness_nb.lab.lines import check_readable, read_lines

__all__ = ["Action", "Conversation", "Dataset", "Finding", "Question", "Terms", "load", "load_all"]

READERS = (locomo, longmemeval, tau_bench)
"""Data sets that are one file; BEAM is a folder."""

_SUFFIXES = (".json", ".jsonl")


def load(path: str | os.PathLike[str]) -> Dataset:
    """Reads a data set.

    Args:
        path: The file; for BEAM the folder of a chat, or the folder of all chats. The folder that holds the one file of a
            data set will do.

    Returns:
        Its conversations with their questions. `report` counts what had to be mended.

    Raises:
        TranscriptError: There is nothing at the path, it is of no known data set, it holds several, or a record of it is
            not as its format says.
    """
    found = _found(_existing(path))
    if len(found) != 1:
        raise TranscriptError(
            f"{str(path)!r} holds {len(found) or 'no'} data set{'s' * (len(found) != 1)} known here.",
            "Give the path of one of LoCoMo, BEAM, LongMemEval or τ-bench, or use load_all for several.",
            subject=path,
        )
    return _read(found[0])


def load_all(path: str | os.PathLike[str]) -> tuple[Dataset, ...]:
    """Reads every data set at a path and in the folders right below it; files that are none are passed over.

    Raises:
        TranscriptError: There is no such path, or a record of a data set is not as its format says.
    """
    place = _existing(path)
    here = _found(place)
    below = (inside for inside in sorted(place.iterdir()) if inside.is_dir()) if place.is_dir() and not here else ()
    return tuple(map(_read, here or [one for inside in below for one in _found(inside)]))


def _existing(path: str | os.PathLike[str]) -> Path:
    place = Path(path)
    if not place.exists():
        raise TranscriptError(f"There is nothing at {str(path)!r}.", "Correct the path.", subject=path)
    if place.is_file():
        check_readable(place)
    return place


def _found(path: Path) -> list[tuple[ModuleType, Path]]:
    """The data sets at a path: its reader and its file or folder."""
    chat = path.parent if path.name == beam.CHAT else path
    if chat.is_dir() and beam.folders(chat):
        return [(beam, chat)]
    files = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES) if path.is_dir() else [path]
    return [(reader, one) for one in files if one.is_file() and (reader := _reader_of(one)) is not None]


def _reader_of(path: Path) -> ModuleType | None:
    """What reads a file, by its first value."""
    first = next((line.value for line in read_lines(path) if isinstance(line, Line)), None)
    return next((reader for reader in READERS if reader.claims(first)), None)


def _read(found: tuple[ModuleType, Path]) -> Dataset:
    reader, path = found
    findings = Findings()
    try:
        conversations = tuple(reader.conversations(_source(reader, path, findings), findings))
    except UNREADABLE as error:
        raise TranscriptError(
            f"{str(path)!r} looks like {reader.NAME}, but a record of it is not as its format says: {error!r}.",
            f"Compare it with {reader.TERMS.source}.",
            subject=path,
        ) from error
    return Dataset(
        name=reader.NAME, terms=reader.TERMS, path=str(path), conversations=conversations, report=findings.all()
    )


def _source(reader: ModuleType, path: Path, findings: Findings) -> Iterable[Line] | list[Path]:
    return beam.folders(path) if reader is beam else _sound(path, findings)


def _sound(path: Path, findings: Findings) -> Iterator[Line]:
    """The values of a file; lines that can't be read are counted."""
    for line in read_lines(path):
        if isinstance(line, Line):
            yield line
        else:
            findings.add("lines that can't be read, skipped", str(line.place))
