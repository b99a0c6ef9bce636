"""LongMemEval: one question over a long history of chat sessions, each instance a conversation of its own.

Read from the public description of its format (the section on it in the readme of
https://github.com/xiaowu0162/LongMemEval): a file is a list of instances with `question_id`, `question_type`,
`question`, `answer`, `question_date`, `haystack_session_ids`, `haystack_dates`, `haystack_sessions` (lists of turns with
`role`, `content` and, on evidence, `has_answer`), and `answer_session_ids`. An id that ends in `_abs` marks a question
whose answer the history does not hold. The sessions of the oracle file are not in order of time: they are put in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from harness_nb.core.messages import Message
from harness_nb.lab.assembly import assemble
from harness_nb.lab.datasets.findings import Findings
from harness_nb.lab.datasets.reading import as_far_as_it_goes
from harness_nb.lab.datasets.record import Conversation, Question, Terms
from harness_nb.lab.entries import UNREADABLE, Begins, Entry, Line, Place, Said, Skipped

NAME = "LongMemEval"
TERMS = Terms(
    licence="MIT",
    duties="The copyright notice stays with copies.",
    source="https://github.com/xiaowu0162/LongMemEval",
    paper="Wu et al., ICLR 2025, arXiv 2410.10813",
)
_MAKERS: dict[str, Callable[..., Message]] = {"user": Message.user, "assistant": Message.assistant}
_ABSTENTION = "_abs"
_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)\s*")
_DATES = ("%Y/%m/%d %H:%M", "%Y/%m/%d")
_FIRST = datetime.min.replace(tzinfo=UTC)


class _Session(NamedTuple):
    """One session of a history."""

    id: str
    time: datetime | None
    turns: list[Any]


def claims(value: Any) -> bool:
    """True for a list of instances, and for one instance."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and "question_id" in first and isinstance(first.get("haystack_sessions"), list)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The turns of all instances, for `read_transcript`."""
    for place, one in _instances(lines):
        yield Begins(place, str(one["question_id"]))
        yield from as_far_as_it_goes(_of_instance(one, place), place, NAME)


def _of_instance(one: Mapping[str, Any], place: Place) -> Iterator[Entry]:
    for session in _sessions(one, Findings()):
        yield from _said(session, place)


def conversations(lines: Iterable[Line], findings: Findings) -> Iterator[Conversation]:
    """The instances as conversations, of one question each."""
    for place, one in _instances(lines):
        yield _conversation(place, one, findings)


def _instances(lines: Iterable[Line]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for line in lines:
        for one in filter(claims, line.value if isinstance(line.value, list) else [line.value]):
            yield line.place, one


def _conversation(place: Place, one: Mapping[str, Any], findings: Findings) -> Conversation:
    name = str(one["question_id"])
    entries: list[Entry] = []
    starts: list[int] = []
    evidence: list[int] = []
    named: list[int] = []
    for session in _sessions(one, findings):
        said = list(_said(session, place))
        at = sum(isinstance(entry, Said) for entry in entries)
        starts.append(at)
        readable = [turn for turn, entry in zip(session.turns, said, strict=True) if isinstance(entry, Said)]
        evidence += [at + offset for offset, turn in enumerate(readable) if turn.get("has_answer")]
        if session.id in one.get("answer_session_ids", ()):
            named += range(at, at + len(readable))
        entries += said
    findings.add("turns that can't be read, skipped", name, sum(isinstance(entry, Skipped) for entry in entries))
    transcript, _ = assemble(entries, format=NAME, name=f"LongMemEval {name}")
    question = _question(one, evidence, named, findings)
    return Conversation(name=name, transcript=transcript, questions=(question,), starts=tuple(starts) or (0,))


def _question(one: Mapping[str, Any], evidence: list[int], named: list[int], findings: Findings) -> Question:
    id_, answer = str(one["question_id"]), one.get("answer")
    findings.add("answers that are no text, read as one", id_, not isinstance(answer, str | None))
    findings.add("questions without an evidence turn", id_, not evidence)
    return Question(
        id=id_,
        text=str(one.get("question", "")),
        category=str(one.get("question_type", "")),
        evidence=tuple(evidence),
        groups={"answer_sessions": tuple(named)},
        answer="" if answer is None else str(answer),
        is_answerable=not id_.endswith(_ABSTENTION),
    )


def _sessions(one: Mapping[str, Any], findings: Findings) -> list[_Session]:
    """The sessions that hold turns, in order of time; those without a date keep to the one before."""
    turns = one["haystack_sessions"]
    ids = [*one.get("haystack_session_ids", ())]
    dates = [*one.get("haystack_dates", ())]
    given = [
        _Session(str(ids[at]) if at < len(ids) else str(at), _time(dates[at]) if at < len(dates) else None, session)
        for at, session in enumerate(turns)
        if session
    ]
    findings.add("sessions without a turn, passed over", str(one["question_id"]), len(turns) - len(given))
    ordered = sorted(given, key=lambda session: session.time or _FIRST) if all(s.time for s in given) else given
    findings.add("histories not in order of time, put in order", str(one["question_id"]), ordered != given)
    return ordered


def _time(said: Any) -> datetime | None:
    """A date such as `2023/05/20 (Sat) 02:21`, said to be UTC; None where it is none."""
    text = _WEEKDAY.sub(" ", str(said)).strip()
    for form in _DATES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _said(session: _Session, place: Place) -> Iterator[Entry]:
    for number, turn in enumerate(session.turns, start=1):
        where = Place(place.line, number)
        try:
            yield Said(where, _MAKERS[turn["role"]](turn["content"], time=session.time))
        except UNREADABLE:
            yield Skipped(where, "a turn without a role or a content")
