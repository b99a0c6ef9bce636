"""BEAM: long chats of a person with an assistant, with questions by what they test and rubrics.

A chat is a folder with `chat.json` (batches of groups of messages), `probing_questions.json` beside it, and often
`topic.json`; a data set is a folder of such folders. A batch is a session; its time anchor is the time of its messages
(midnight, said to be UTC). The mark at the end of the user's messages, such as ` ->-> 1,1`, is taken off. The key of the
answer differs by what is tested, and evidence is a list of message ids or an object of such lists: all of these are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.errors import TranscriptError
from harness_nb.lab.assembly import assemble
from harness_nb.lab.datasets.findings import Findings
from harness_nb.lab.datasets.reading import as_far_as_it_goes, places_of
from harness_nb.lab.datasets.record import Conversation, Question, Split, Terms
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, Place, Said, Skipped
from harness_nb.lab.lines import read_lines

NAME = "BEAM"
TERMS = Terms(
    licence="CC BY-SA 4.0",
    duties="Attribution is asked for, and what is made of it must be shared alike; do not bundle it.",
    source="https://github.com/mohammadtavakoli78/BEAM",
    paper="Tavakoli et al., arXiv 2510.27246",
)
CHAT, QUESTIONS = "chat.json", "probing_questions.json"
TUNING = frozenset({"1"})
"""Chats to choose constants on."""

_MAKERS: dict[str, Callable[..., Message]] = {"user": Message.user, "assistant": Message.assistant}
_ANSWER_KEYS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
_UNANSWERABLE = "abstention"
_MARK = re.compile(r"\s*->->\s*[\d,\s]*$")
_ANCHOR = "%B-%d-%Y"


def claims(value: Any) -> bool:
    """True for a list of batches, and for one batch."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and "batch_number" in first and isinstance(first.get("turns"), list)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages of a chat, for `read_transcript`."""
    for line in lines:
        yield Begins(line.place)
        for batch in _batches(line.value):
            yield from as_far_as_it_goes(_of_batch(batch), line.place, NAME)


def _of_batch(batch: Mapping[str, Any]) -> Iterator[Entry]:
    yield from _said(batch, _anchor(batch), Findings(), "")


def folders(path: Path) -> list[Path]:
    """The folders of chats in a folder, by number; itself, when it is one."""
    if _is_chat(path):
        return [path]
    inside = [one for one in path.iterdir() if _is_chat(one)] if path.is_dir() else []
    return sorted(inside, key=lambda one: (int(one.name) if one.name.isdecimal() else 0, one.name))


def _is_chat(folder: Path) -> bool:
    """Whether a folder is a chat: anybody's conversation may lie in a file of that name."""
    chat = folder / CHAT
    if not chat.is_file():
        return False
    first = next((line.value for line in read_lines(chat) if isinstance(line, Line)), None)
    return (folder / QUESTIONS).is_file() or claims(first)


def conversations(paths: Iterable[Path], findings: Findings) -> Iterator[Conversation]:
    """The chats in some folders, each named as its folder."""
    for path in paths:
        batches, kinds = (_loaded(path / name) for name in (CHAT, QUESTIONS))
        yield _conversation(path.name, _batches(batches), kinds, findings)


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise TranscriptError(
            f"{str(path)!r} can't be read: {reason}.",
            f"A chat is a folder with {CHAT} and {QUESTIONS}.",
            subject=path,
        ) from error


def _batches(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _conversation(name: str, batches: Iterable[Any], kinds: Mapping[str, Any], findings: Findings) -> Conversation:
    entries: list[Entry] = []
    firsts: list[int] = []
    ids: list[int] = []
    for batch in batches:
        firsts.append(len(entries))
        entries += _said(batch, _anchor(batch), findings, name)
        ids += [one["id"] for group in batch["turns"] for one in group]
    transcript, _ = assemble(entries, format=NAME, name=f"BEAM {name}")
    at = [*places_of(entries), len(transcript)]
    starts = dict.fromkeys(at[first] for first in firsts)
    places = {number: place for number, place, one in zip(ids, at, entries, strict=False) if isinstance(one, Said)}
    findings.add("messages that can't be read, skipped", name, len(ids) - len(places))
    findings.add("messages whose id is not their place", name, sum(number != place for number, place in places.items()))
    split: Split = "tuning" if name in TUNING else "report"
    questions = tuple(_questions(name, kinds, places, findings))
    return Conversation(
        name=name, transcript=transcript, questions=questions, starts=tuple(starts) or (0,), split=split
    )


def _said(batch: Mapping[str, Any], time: datetime | None, findings: Findings, name: str) -> Iterator[Entry]:
    for number, wire in enumerate((one for group in batch["turns"] for one in group), start=1):
        place = Place(0, number)
        try:
            text = _MARK.sub("", wire["content"])
            findings.add("marks at the end of messages, taken off", count=text != wire["content"])
            findings.add("empty messages, kept", f"{name}: {wire.get('id')}", not text.strip())
            yield Said(place, _MAKERS[wire["role"]](text, time=time))
        except UNREADABLE:
            yield Skipped(place, "a message without a role or a content")


def _anchor(batch: Mapping[str, Any]) -> datetime | None:
    """The time of a batch, as it or its first anchored message says."""
    messages = (one for group in batch["turns"] for one in group)
    said = [batch.get("time_anchor"), *(one.get("time_anchor") for one in messages)]
    try:
        return datetime.strptime(next(filter(None, said), ""), _ANCHOR).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        return None


def _questions(
    name: str, kinds: Mapping[str, Any], places: Mapping[int, int], findings: Findings
) -> Iterator[Question]:
    for kind, asked in kinds.items():
        for number, one in enumerate(asked, start=1):
            id_ = f"{kind} {number}"
            groups = _groups(one.get("source_chat_ids"), places, f"{name}: {id_}", findings)
            findings.add("evidence in groups, joined", count=isinstance(one.get("source_chat_ids"), dict))
            findings.add("questions without evidence", f"{name}: {id_}", not any(groups.values()))
            key = next((key for key in _ANSWER_KEYS if key in one), "")
            findings.add(f"answers under {key or 'no known key'!r}", count=key != "answer")
            yield Question(
                id=id_,
                text=one["question"],
                category=kind,
                evidence=tuple(sorted({place for group in groups.values() for place in group})),
                groups=groups if isinstance(one.get("source_chat_ids"), dict) else {},
                answer=str(one.get(key, "")),
                rubric=tuple(map(str, one.get("rubric") or ())),
                is_answerable=kind != _UNANSWERABLE,
            )


def _groups(given: Any, places: Mapping[int, int], where: str, findings: Findings) -> dict[str, tuple[int, ...]]:
    """Places of the evidence, by the name of its group."""
    groups = given if isinstance(given, dict) else {"": given}
    found: dict[str, tuple[int, ...]] = {}
    for group, ids in groups.items():
        numbers = list(_ids(ids))
        lost = [number for number in numbers if number not in places]
        findings.add("evidence that names no message, dropped", f"{where}: {lost}", len(lost))
        found[group] = tuple(sorted({places[number] for number in numbers if number in places}))
    return found


def _ids(given: Any) -> Iterator[int]:
    """The message ids in a list or an object of lists, however deep."""
    if isinstance(given, int):
        yield given
    elif isinstance(given, dict | list):
        for one in given.values() if isinstance(given, dict) else given:
            yield from _ids(one)
