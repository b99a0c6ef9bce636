"""Recorded conversations as transcripts; the format is recognised by content, never by name."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from harness_nb.core.transcript import Transcript
from harness_nb.errors import TranscriptError
from harness_nb.lab.assembly import ReadReport, assemble, conversations
from harness_nb.lab.entries import Entry, Line, Skipped
from harness_nb.lab.lines import check_readable, read_lines
from harness_nb.lab.readers import claude_code, openai, own, pi


class Reader(Protocol):
    """What reads one format: a module with these three names.

    Attributes:
        NAME: The format, as the report names it.
    """

    NAME: str

    def claims(self, value: Any, /) -> bool:
        """Whether a JSON value, one line of a file or a whole document, is of this format."""
        ...

    def read(self, lines: Iterable[Line], /) -> Iterator[Entry]:
        """What lines hold, as entries."""
        ...


READERS: tuple[Reader, ...] = (
    own,
    pi,
    claude_code,
    openai,
)
"""All readers, the more special formats first. To read another format, add the module that reads it here.

The first of them that claims a line among the first lines of a file reads the file, so each may leave what it does not
know to those behind it. `openai` claims whatever has roles and contents and stays the last.
"""

_PROBED = 50
"""Lines of known formats that are looked at before a file is taken for what they are: a request of Anthropic's may begin
with texts that are the same in OpenAI's format."""


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
    number, found = 0, None
    with closing(_read(Path(path))) as conversations_read:
        for number, one in enumerate(conversations_read, start=1):
            if number == (conversation or 0) + 1:
                found = one
                if conversation is not None:
                    return found
    if conversation is None and found is not None and number == 1:
        return found
    if conversation is None:
        raise TranscriptError(
            f"{str(path)!r} holds {number} conversations.",
            f"Read one with conversation=0 to {number - 1}, or all with read_transcripts.",
            subject=path,
        )
    raise TranscriptError(
        f"{str(path)!r} has no conversation {conversation!r}.", f"Use 0 to {number - 1}.", subject=path
    )


def read_transcripts(path: str | os.PathLike[str]) -> tuple[Transcript, ...]:
    """Reads all conversations of a file, in order.

    Raises:
        TranscriptError: As `read_transcript`, except that several conversations are welcome.
    """
    return tuple(iter_transcripts(path))


def iter_transcripts(path: str | os.PathLike[str]) -> Iterator[Transcript]:
    """Reads the conversations of a file one after another, so that a file of any size needs the memory of one.

    That holds for a file with a conversation a line; a file that is one JSON document is loaded as a whole.

    Raises:
        TranscriptError: As `read_transcripts`, at the first conversation.
    """
    for transcript, _ in _read(Path(path)):
        yield transcript


def _read(path: Path) -> Generator[tuple[Transcript, ReadReport]]:
    """The conversations; each is given out when it is known whether another follows, as it is named after that."""
    check_readable(path)
    reader = _recognised(path)
    waiting: list[Entry] | None = None
    number = 0
    for group in conversations(_entries(reader, path)):
        if waiting is not None:
            yield assemble(waiting, format=reader.NAME, name=f"{path.name}[{number}]")
            number += 1
        waiting = group
    if waiting is None:
        raise TranscriptError(
            f"{str(path)!r} looks like {reader.NAME}, but no message could be read from it.",
            "Check whether the file is complete.",
            subject=path,
        )
    yield assemble(waiting, format=reader.NAME, name=f"{path.name}[{number}]" if number else path.name)


def _recognised(path: Path) -> Reader:
    """The most special reader that claims one of the first lines that any claims."""
    best, probed = len(READERS), 0
    for line in read_lines(path):
        if isinstance(line, Line):
            best = next((at for at, reader in enumerate(READERS[:best]) if reader.claims(line.value)), best)
            probed += best < len(READERS)
        if best == 0 or probed == _PROBED:
            break
    if best < len(READERS):
        return READERS[best]
    known = ", ".join(reader.NAME for reader in READERS)
    raise TranscriptError(
        f"{str(path)!r} is of no known format.", f"Give a conversation in one of these: {known}.", subject=path
    )


def _entries(reader: Reader, path: Path) -> Iterator[Entry]:
    """What the file holds; a line that could not be read is told before what the reader says next."""
    spoilt: deque[Skipped] = deque()

    def sound() -> Iterator[Line]:
        for line in read_lines(path):
            if isinstance(line, Line):
                yield line
            else:
                spoilt.append(line)

    for entry in reader.read(sound()):
        while spoilt:
            yield spoilt.popleft()
        yield entry
    yield from spoilt
