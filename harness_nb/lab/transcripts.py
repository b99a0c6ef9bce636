"""Recorded conversations as transcripts; the format is recognised by content, never by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness_nb.core.transcript import Transcript
from harness_nb.errors import TranscriptError
from harness_nb.lab.assembly import ReadReport, assemble, conversations
from harness_nb.lab.entries import Entry, Line, Said, Skipped
from harness_nb.lab.lines import check_readable, read_lines
from harness_nb.lab.readers import claude_code, openai, own, pi


class Format(NamedTuple):
    """A format that can be read.

    Attributes:
        name: As the report names it.
        claims: Whether a line is of this format.
        read: What lines hold, as entries.
    """

    name: str
    claims: Callable[[Any], bool]
    read: Callable[[Iterable[Line]], Iterator[Entry]]


FORMATS = tuple(Format(reader.NAME, reader.claims, reader.read) for reader in (own, pi, claude_code, openai))
"""All formats; the first that claims a line of the file reads it, so the more special ones come first."""


def read_transcript(path: str | os.PathLike[str], *, conversation: int | None = None) -> Transcript:
    """Reads one recorded conversation.

    Recognised are OpenAI chat (JSON, or JSON Lines of messages or conversations), sessions of pi and OpenClaw, of Claude
    Code, and our own session logs. The transcript has whole rounds: a result without a call is left out, a call without
    a result gets a stub that says so. The file stays as it is.

    Args:
        path: The file.
        conversation: Which one to read of a file that holds several, 0 for the first; needed only there.

    Returns:
        The transcript. Its `report` says what was dropped, skipped or repaired, with line numbers.

    Raises:
        TranscriptError: The file is missing, empty, not text, of no known format, or holds no message or several
            conversations.
    """
    return read_with_report(path, conversation=conversation)[0]


def read_with_report(path: str | os.PathLike[str], *, conversation: int | None = None) -> tuple[Transcript, ReadReport]:
    """Reads one recorded conversation, as `read_transcript` does, with counts and marks beside it."""
    found = _read(Path(path))
    if conversation is None and len(found) == 1:
        return found[0]
    if conversation is None:
        raise TranscriptError(
            f"{str(path)!r} holds {len(found)} conversations.",
            f"Read one with conversation=0 to {len(found) - 1}, or all with read_transcripts.",
            subject=path,
        )
    if not 0 <= conversation < len(found):
        raise TranscriptError(
            f"{str(path)!r} has no conversation {conversation!r}.", f"Use 0 to {len(found) - 1}.", subject=path
        )
    return found[conversation]


def read_transcripts(path: str | os.PathLike[str]) -> tuple[Transcript, ...]:
    """Reads all conversations of a file, in order.

    Raises:
        TranscriptError: As `read_transcript`, except that several conversations are welcome.
    """
    return tuple(transcript for transcript, _ in _read(Path(path)))


def _read(path: Path) -> list[tuple[Transcript, ReadReport]]:
    check_readable(path)
    format = _recognised(path)
    groups = conversations(_entries(format, path))
    if not any(isinstance(entry, Said) for group in groups for entry in group):
        raise TranscriptError(
            f"{str(path)!r} looks like {format.name}, but no message could be read from it.",
            "Check whether the file is complete.",
            subject=path,
        )
    several = len(groups) > 1
    return [
        assemble(group, format=format.name, name=f"{path.name}[{number}]" if several else path.name)
        for number, group in enumerate(groups)
    ]


def _recognised(path: Path) -> Format:
    for line in read_lines(path):
        if isinstance(line, Line):
            for format in FORMATS:
                if format.claims(line.value):
                    return format
    known = ", ".join(format.name for format in FORMATS)
    raise TranscriptError(
        f"{str(path)!r} is of no known format.", f"Give a conversation in one of these: {known}.", subject=path
    )


def _entries(format: Format, path: Path) -> Iterator[Entry]:
    """What the file holds, lines that could not be read last."""
    spoilt: list[Skipped] = []

    def sound() -> Iterator[Line]:
        for line in read_lines(path):
            if isinstance(line, Line):
                yield line
            else:
                spoilt.append(line)

    yield from format.read(sound())
    yield from spoilt
