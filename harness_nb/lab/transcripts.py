"""Recorded conversations as transcripts; the format is recognised by content, never by name."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness_nb.core.transcript import Transcript
from harness_nb.errors import TranscriptError
from harness_nb.lab.assembly import ReadReport, assemble, conversations, name_in
from harness_nb.lab.datasets import beam, locomo, longmemeval, tau_bench
from harness_nb.lab.entries import Entry, Line, Skipped
from harness_nb.lab.lines import check_readable, read_lines
from harness_nb.lab.readers import (
    anthropic,
    claude_code,
    codex,
    gemini_cli,
    inspect_ai,
    langchain,
    openai,
    opencode,
    own,
    pi,
    sharegpt,
)


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
    codex,
    gemini_cli,
    opencode,
    langchain,
    inspect_ai,
    sharegpt,
    locomo,
    beam,
    longmemeval,
    tau_bench,
    anthropic,
    openai,
)
"""All readers, the more special formats first. To read another format, add the module that reads it here.

The first of them that claims a line among the first lines of a file reads the file, so each may leave what it does not
know to those behind it. `openai` claims whatever has roles and contents and stays the last.
"""

_PROBED = 50
"""Lines of known formats that are looked at before a file is taken for what they are: a request of Anthropic's may begin
with texts that are the same in OpenAI's format."""


def read_transcript(path: str | os.PathLike[str], *, conversation: int | str | None = None) -> Transcript:
    """Reads one recorded conversation.

    Recognised are OpenAI chat and Anthropic Messages (JSON, or JSON Lines of messages or conversations), messages of
    LangChain, ShareGPT, logs of inspect_ai, sessions of pi and OpenClaw, Claude Code, Codex, Gemini CLI and OpenCode,
    our own session logs, and the data sets LoCoMo, BEAM, LongMemEval and τ-bench. The transcript has whole rounds:
    a result without a call is left out, a call without a result gets a stub that says so. The file stays as it is.

    Args:
        path: The file; of OpenCode also the folder `storage/message/<session>`.
        conversation: Which one to read of a file that holds several, by number, 0 for the first, or by the name that
            the file gives it, such as `conv-26`; needed only there.

    Returns:
        The transcript. Its `report` says what was dropped, skipped or repaired, with line numbers.

    Raises:
        TranscriptError: The file is missing, empty, not text, of no known format, or holds no message or several
            conversations.
    """
    return read_with_report(path, conversation=conversation)[0]


def read_with_report(
    path: str | os.PathLike[str], *, conversation: int | str | None = None
) -> tuple[Transcript, ReadReport]:
    """Reads one recorded conversation, as `read_transcript` does, with counts and marks beside it."""
    number, found, one = 0, None, None
    with closing(_read(Path(path))) as conversations_read:
        for number, one in enumerate(conversations_read, start=1):
            if (conversation or 0) in (number - 1, one.name):
                found = one
                if conversation is not None:
                    return found.transcript, found.report
    if conversation is None and found is not None and number == 1:
        return found.transcript, found.report
    choice = f"0 to {number - 1}{f', or a name such as {one.name!r}' if one is not None and one.name else ''}"
    if conversation is None:
        raise TranscriptError(
            f"{str(path)!r} holds {number} conversations.",
            f"Read one with conversation={choice}; or all with read_transcripts.",
            subject=path,
        )
    raise TranscriptError(f"{str(path)!r} has no conversation {conversation!r}.", f"Use {choice}.", subject=path)


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
    for one in _read(Path(path)):
        yield one.transcript


class _Read(NamedTuple):
    """One conversation of a file; `name` is what the file calls it, or empty."""

    name: str
    transcript: Transcript
    report: ReadReport


def _read(path: Path) -> Generator[_Read]:
    """The conversations; each is given out when it is known whether another follows, as it is named after that."""
    check_readable(path)
    reader = _recognised(path)
    waiting: list[Entry] | None = None
    number = 0
    for group in conversations(_entries(reader, path)):
        if waiting is not None:
            yield _assembled(waiting, reader, path, str(number))
            number += 1
        waiting = group
    if waiting is None:
        raise TranscriptError(
            f"{str(path)!r} looks like {reader.NAME}, but no message could be read from it.",
            "Check whether the file is complete.",
            subject=path,
        )
    yield _assembled(waiting, reader, path, str(number) if number else "")


def _assembled(entries: list[Entry], reader: Reader, path: Path, number: str) -> _Read:
    """A conversation, shown by the name that the file gives it, or by its number where there are several."""
    name = name_in(entries)
    shown = f"{path.name}[{name or number}]" if name or number else path.name
    return _Read(name, *assemble(entries, format=reader.NAME, name=shown))


def _recognised(path: Path) -> Reader:
    """The most special reader that claims one of the first lines that any claims."""
    best, probed, has_json = len(READERS), 0, False
    for line in read_lines(path):
        if isinstance(line, Line):
            has_json = True
            best = next((at for at, reader in enumerate(READERS[:best]) if reader.claims(line.value)), best)
            probed += best < len(READERS)
        if best == 0 or probed == _PROBED:
            break
    if best < len(READERS):
        return READERS[best]
    if not has_json:
        raise TranscriptError(
            f"{str(path)!r} holds no JSON that can be read.",
            "Check whether the file is complete; a conversation is JSON or JSON Lines.",
            subject=path,
        )
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
