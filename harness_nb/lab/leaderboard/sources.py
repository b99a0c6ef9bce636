"""What a leaderboard is made on: data sets with questions or tasks, and recorded sessions, found at paths."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness_nb.core.messages import to_json
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError, TranscriptError
from harness_nb.lab.conformance.cases import is_case
from harness_nb.lab.datasets import Conversation, Dataset, load_all
from harness_nb.lab.entries import Line
from harness_nb.lab.lines import read_lines
from harness_nb.lab.score import data_hash
from harness_nb.lab.transcripts import read_transcripts
from harness_nb.store.files import read_bytes

SESSIONS = "sessions"
"""Name of a source of recorded sessions that are not in a folder of their own."""

_ENDINGS = (".json", ".jsonl", ".eval")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Conversations that are ranked together.

    Attributes:
        name: Of the data set, or of the folder of the sessions.
        licence: Of the data set; empty where none is known.
        conversations: What is replayed; those of recorded sessions have neither questions nor a task.
        files: Name and SHA-256 of each file that was read.
    """

    name: str
    licence: str = ""
    conversations: tuple[Conversation, ...]
    files: tuple[tuple[str, str], ...] = ()

    @property
    def is_labelled(self) -> bool:
        """Whether its conversations have questions with evidence or a task."""
        return any(one.questions or one.actions for one in self.conversations)


def sources(given: Iterable[str | Path | Dataset | Transcript]) -> tuple[Source, ...]:
    """The data sets and recorded sessions at some paths.

    Of a folder, its files and those of the folders right below it are looked at, and what is neither is passed over.

    Args:
        given: Paths, data sets or transcripts.

    Raises:
        TranscriptError: There is nothing at a path that can be read, or a record of it is not as its format says.
        ConfigError: Two sources have the same name.
    """
    found: list[Source] = []
    loose: list[Conversation] = []
    for one in given:
        if isinstance(one, Dataset):
            found.append(_of_dataset(one))
        elif isinstance(one, Transcript):
            loose.append(_session(one))
        else:
            found += _at(Path(one))
    found += [Source(name=SESSIONS, conversations=tuple(loose))] if loose else []
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"Two sources are called {name!r}.", "Give each once, in folders of different names.")
    return tuple(found)


def _at(path: Path) -> list[Source]:
    """The data sets at a path, and one source of sessions for each folder that has some."""
    found = [_of_dataset(one) for one in load_all(path)]
    if path.is_file():
        return found or [_sessions(path.name, [path])]
    for folder in (path, *sorted(one for one in path.iterdir() if one.is_dir())):
        files = sorted(one for one in folder.iterdir() if one.suffix in _ENDINGS and one.is_file())
        if files and not load_all(folder):
            sessions = [one for one in files if _is_session(one)]
            found += [_sessions(folder.name, sessions)] if sessions else []
    if not found:
        raise TranscriptError(
            f"No data set and no conversation was found in {str(path)!r}.",
            "Name a file, or a folder with files of a known format.",
            subject=path,
        )
    return sorted(found, key=lambda one: one.name)


def _is_session(path: Path) -> bool:
    """Whether conversations can be read from a file, and it is no recording of a system, made for conformance."""
    try:
        first = next((line.value for line in read_lines(path) if isinstance(line, Line)), None)
        return not is_case(first) and bool(read_transcripts(path))
    except TranscriptError:
        return False


def _sessions(name: str, files: Iterable[Path]) -> Source:
    listed = list(files)
    read = tuple(_session(transcript) for file in listed for transcript in read_transcripts(file))
    return Source(name=name, conversations=read, files=_hashes(listed))


def _session(transcript: Transcript) -> Conversation:
    return Conversation(name=transcript.name or data_hash(transcript)[:12], transcript=transcript)


def _of_dataset(dataset: Dataset) -> Source:
    place = Path(dataset.path)
    files = [place] if place.is_file() else sorted(one for one in place.rglob("*.json") if one.is_file())
    return Source(
        name=dataset.name,
        licence=dataset.terms.licence,
        conversations=dataset.conversations,
        files=_hashes(files, place if place.is_dir() else None),
    )


def _hashes(files: Iterable[Path], folder: Path | None = None) -> tuple[tuple[str, str], ...]:
    return tuple(
        (file.relative_to(folder).as_posix() if folder else file.name, _sha256(read_bytes(file) or b""))
        for file in files
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def labels_hash(conversation: Conversation) -> str:
    """SHA-256 of the transcript of a conversation and of what is asked about it."""
    asked = [[one.id, one.text, list(one.evidence)] for one in conversation.questions]
    called = [[one.name, dict(one.arguments)] for one in conversation.actions]
    return _sha256(to_json([data_hash(conversation.transcript), asked, called]).encode())
