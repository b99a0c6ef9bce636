"""LoCoMo: long chats of two people over many sessions, with questions.

A file is a list of samples with `sample_id`, `conversation` (turns by session, and the session's date), and `qa`. The one
who speaks first becomes the user, the other the assistant; a message carries the speaker as its name, the session's date
as its time (local, said to be UTC), and a picture's caption behind its text.

Of evidence, each id in it counts: several in one text, a stray colon and leading zeros are read; what then names no
turn is dropped. All of it is counted. Answers become texts, where they are numbers, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.lab.assembly import assemble
from harness_nb.lab.datasets.findings import Findings
from harness_nb.lab.datasets.reading import as_far_as_it_goes, places_of
from harness_nb.lab.datasets.record import Conversation, Question, Terms
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, Place, Said, Skipped

NAME = "LoCoMo"
TERMS = Terms(
    licence="CC BY-NC 4.0",
    duties="Attribution is asked for, and no commercial use; do not bundle it.",
    source="https://github.com/snap-research/locomo",
    paper="Maharana et al., ACL 2024, arXiv 2402.17753",
)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""What the numbers of categories mean."""

TUNING = frozenset({"conv-26", "conv-30"})
"""Conversations to choose constants on."""

_ADVERSARIAL = 5
_ID = re.compile(r"D:?(\d+):(\d+)")
_PLAIN_ID = re.compile(r"D[1-9]\d*:[1-9]\d*")
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


def claims(value: Any) -> bool:
    """True for a list of samples, and for one sample."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("qa"), list) and isinstance(first.get("conversation"), dict)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The turns of all samples, for `read_transcript`."""
    for place, sample in _samples(lines):
        yield Begins(place, str(sample.get("sample_id", "")))
        yield from as_far_as_it_goes(_turns(sample, Findings()), place, NAME)


def conversations(lines: Iterable[Line], findings: Findings) -> Iterator[Conversation]:
    """The samples as conversations."""
    for _, sample in _samples(lines):
        name = str(sample["sample_id"])
        entries = list(_turns(sample, findings))
        findings.add("turns that can't be read, skipped", name, sum(isinstance(one, Skipped) for one in entries))
        transcript, _ = assemble(entries, format=NAME, name=name)
        sessions = [sample["conversation"][f"session_{number}"] for number in _numbers(sample["conversation"])]
        places = _places(sessions, entries)
        yield Conversation(
            name=name,
            transcript=transcript,
            questions=tuple(_questions(sample, places, findings)),
            starts=_starts(sessions, entries),
            split="tuning" if name in TUNING else "report",
        )


def _samples(lines: Iterable[Line]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for line in lines:
        samples = line.value if isinstance(line.value, list) else [line.value]
        for sample in filter(claims, samples):
            yield line.place, sample


def _numbers(conversation: Mapping[str, Any]) -> list[int]:
    """Numbers of the sessions that hold turns, in order."""
    return sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)) and conversation[key])


def _starts(sessions: Sequence[Sequence[Any]], entries: Sequence[Entry]) -> tuple[int, ...]:
    """Index of the first message of each session."""
    ends = [*accumulate(map(len, sessions), initial=0)][:-1]
    places = places_of(entries)
    return tuple(dict.fromkeys(places[end] for end in ends)) or (0,)


def _places(sessions: Sequence[Sequence[Mapping[str, Any]]], entries: Sequence[Entry]) -> dict[str, int]:
    """Index of each turn that was read, by its id."""
    turns = (turn for session in sessions for turn in session)
    found = zip(turns, entries, places_of(entries), strict=True)
    return {turn["dia_id"]: at for turn, entry, at in found if isinstance(entry, Said)}


def _turns(sample: Mapping[str, Any], findings: Findings) -> Iterator[Entry]:
    conversation, name = sample["conversation"], sample["sample_id"]
    dates = {key for key in conversation if key.endswith("_date_time")}
    numbers = _numbers(conversation)
    lone = len(dates - {f"session_{number}_date_time" for number in numbers})
    findings.add("dates without a session, passed over", f"{name}: {lone}", lone)
    first = conversation[f"session_{numbers[0]}"][0]["speaker"] if numbers else ""
    position = 0
    for number in numbers:
        time = _time(conversation.get(f"session_{number}_date_time"))
        for turn in conversation[f"session_{number}"]:
            position += 1
            yield _turn(turn, Place(0, position), first, time)


def _turn(turn: Any, place: Place, first: str, time: datetime | None) -> Entry:
    try:
        caption = turn.get("blip_caption")
        text = f"{turn['text']} [{caption}]" if caption else turn["text"]
        role = Message.user if turn["speaker"] == first else Message.assistant
        return Said(place, role(text, name=turn["speaker"], time=time))
    except UNREADABLE:
        return Skipped(place, "a turn that has no speaker or no text")


def _time(said: Any) -> datetime | None:
    try:
        return datetime.strptime(said, _DATE).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        return None


def _questions(sample: Mapping[str, Any], places: Mapping[str, int], findings: Findings) -> Iterator[Question]:
    name = sample["sample_id"]
    for number, asked in enumerate(sample["qa"], start=1):
        evidence = _evidence(asked.get("evidence") or (), places, name, findings)
        findings.add("questions without evidence", f"{name}: question {number}", not evidence)
        answer = asked.get("answer")
        is_answerable = asked["category"] != _ADVERSARIAL
        findings.add("answers that are no text, read as one", f"{name}: {answer!r}", isinstance(answer, int | float))
        findings.add("adversarial questions without an answer", count=answer is None)
        yield Question(
            id=str(number),
            text=asked["question"],
            category=CATEGORIES.get(asked["category"], str(asked["category"])),
            evidence=evidence,
            answer="" if answer is None else str(answer),
            is_answerable=is_answerable,
        )


def _evidence(given: Iterable[Any], places: Mapping[str, int], name: str, findings: Findings) -> tuple[int, ...]:
    found: set[int] = set()
    for entry in map(str, given):
        if _PLAIN_ID.fullmatch(entry) is None:
            findings.add("evidence that is not one plain id, taken apart", f"{name}: {entry!r}")
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in _ID.findall(entry)]
        findings.add("evidence that names no turn, dropped", f"{name}: {entry!r}", not ids)
        for one in ids:
            if one in places:
                found.add(places[one])
            else:
                findings.add("evidence that names no turn, dropped", f"{name}: {one!r}")
    return tuple(sorted(found))
