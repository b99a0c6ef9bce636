"""From what a reader found to a transcript with whole rounds, and the report of what was dropped or repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness_nb.core.messages import Message
from harness_nb.core.rounds import Repair, repair
from harness_nb.core.transcript import Transcript
from harness_nb.lab.entries import Begins, Compacted, Dropped, Entry, ModelNamed, Place, Said, SettingChanged, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionMark:
    """Where the recorded system compacted its context.

    Attributes:
        index: Number of messages of the transcript that were said before.
        summary: The text that the recorded model wrote.
        tokens_before: Size of the context before, as recorded, or None.
    """

    index: int
    summary: str
    tokens_before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingMark:
    """Where the recorded system began to ask with another setting.

    Attributes:
        index: Number of messages of the transcript that were said before.
        setting: Which one, such as `model` or `thinking`.
        value: What it became.
    """

    index: int
    setting: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """What was read from a file and what was not.

    Attributes:
        format: Name of the format.
        read: Messages in the file. The transcript has `read - dropped + repaired` of them.
        dropped: Messages left out: without content, off the conversation, or results without a call.
        repaired: Calls that never got a result and were given a stub.
        notes: All that was dropped, skipped, moved or repaired, a line each, in order of the file.
        compactions: Where the recorded system compacted its context.
        settings: Where it began to ask with other settings, as far as the file says so, the first ones included.
        model: Model that wrote most of the answers, or None where the file does not say.
    """

    format: str
    read: int = 0
    dropped: int = 0
    repaired: int = 0
    notes: tuple[str, ...] = ()
    compactions: tuple[CompactionMark, ...] = ()
    settings: tuple[SettingMark, ...] = ()
    model: str | None = None


def conversations(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Divides entries before each `Begins`; without one all are one conversation. One without a message is none.

    Notes of what stands between conversations go with the one before, or with the first.
    """
    before: list[Entry] = []
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Begins) and _says_something(found):
            if before:
                yield before
            before, found = found, []
        found.append(entry)
    if not _says_something(found):  # notes alone, which the last conversation tells
        before += [entry for entry in found if not isinstance(entry, Begins)] if before else []
        found = []
    yield from (one for one in (before, found) if one)


def name_in(entries: Sequence[Entry]) -> str:
    """The name that a file gives to a conversation, empty where it gives none."""
    return next((entry.name for entry in reversed(entries) if isinstance(entry, Begins)), "")


def _says_something(entries: Iterable[Entry]) -> bool:
    return any(isinstance(one, Said) for one in entries)


def assemble(entries: Sequence[Entry], *, format: str, name: str = "") -> tuple[Transcript, ReadReport]:
    """Makes a transcript of entries in the order of the conversation.

    Args:
        entries: What a reader found.
        format: Name of the format, for the report.
        name: Where it came from, for displays.
    """
    said = [entry for entry in entries if isinstance(entry, Said)]
    fixed = repair([one.message for one in said])
    noted = sorted([*_notes_of_entries(entries), *_notes_of_repair(said, fixed)], key=lambda note: note[0])
    notes = tuple(f"{place}: {text}" for place, text in noted)
    dropped = sum(isinstance(entry, Dropped) for entry in entries)
    model = _model(entries)
    report = ReadReport(
        format=format,
        read=len(said) + dropped,
        dropped=dropped + len(fixed.dropped),
        repaired=len(fixed.stubbed),
        notes=notes,
        compactions=tuple(
            CompactionMark(index=index, summary=one.summary, tokens_before=one.tokens_before)
            for one, index in _placed(entries, fixed, Compacted)
        ),
        settings=tuple(
            SettingMark(index=index, setting=one.setting, value=one.value)
            for one, index in _placed(entries, fixed, SettingChanged)
        ),
        model=model,
    )
    messages = fixed.apply([one.message for one in said])
    return Transcript(messages, report=notes, name=name, model=model or ""), report


def _notes_of_entries(entries: Iterable[Entry]) -> list[tuple[Place, str]]:
    words = {Dropped: "dropped", Skipped: "skipped"}
    return [
        (entry.place, f"{words[type(entry)]} {entry.what}") for entry in entries if isinstance(entry, Dropped | Skipped)
    ]


def _notes_of_repair(said: Sequence[Said], fixed: Repair) -> list[tuple[Place, str]]:
    notes = [
        (said[at].place, f"dropped a result without a call, id {said[at].message.call_id!r}") for at in fixed.dropped
    ]
    notes += [(said[at].place, "put a result next to its call") for at in fixed.moved]
    caller = Place()
    for one in fixed.order:
        if isinstance(one, Message):
            notes.append((caller, f"call {one.call_id!r} never got a result; a stub was added"))
        elif said[one].message.calls:
            caller = said[one].place
    return notes


Mark = TypeVar("Mark", Compacted, SettingChanged)


def _placed(entries: Iterable[Entry], fixed: Repair, kind: type[Mark]) -> Iterator[tuple[Mark, int]]:
    """The marks of a kind, each with the number of messages before the first one that was said after it."""
    position = 0
    for entry in entries:
        if isinstance(entry, Said):
            position += 1
        elif isinstance(entry, kind):
            after = (at for at, one in enumerate(fixed.order) if isinstance(one, int) and one >= position)
            yield entry, next(after, len(fixed.order))


def _model(entries: Iterable[Entry]) -> str | None:
    """The model of most answers, or the first that a header names."""
    answers = Counter(entry.model for entry in entries if isinstance(entry, Said) and entry.model)
    if answers:
        return answers.most_common(1)[0][0]
    return next((entry.model for entry in entries if isinstance(entry, ModelNamed)), None)
