"""What every data set is read into: conversations with questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.datasets.findings import Finding

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

Split = Literal["tuning", "report"]
"""Conversations to choose constants on, and those to report figures of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about a conversation.

    Attributes:
        id: Names it within the conversation.
        text: The question.
        category: What it asks for, in the data set's words.
        evidence: Indices of the messages that hold the answer, in ascending order; empty where none are named.
        groups: The same by what they are, where the data set says so, such as `original_info` and `updated_info`.
        answer: The right answer; empty where there is none.
        rubric: What a good answer states, for a judge.
        is_answerable: False when the right answer is that the conversation does not say.
    """

    id: str
    text: str
    category: str
    evidence: tuple[int, ...] = ()
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict, hash=False)
    answer: str = ""
    rubric: tuple[str, ...] = ()
    is_answerable: bool = True

    def moved(self, place_of: Mapping[int, int]) -> Question:
        """The same question about the same messages at other places."""
        groups = {name: tuple(sorted(place_of[one] for one in places)) for name, places in self.groups.items()}
        return replace(self, evidence=tuple(sorted(place_of[one] for one in self.evidence)), groups=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A tool call that solves a task.

    Attributes:
        name: Name of the tool.
        arguments: The right arguments.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Conversation:
    """One conversation of a data set.

    Attributes:
        name: Its name in the data set.
        transcript: All sessions as one transcript, in order of time.
        questions: What is asked about it.
        starts: Index of the first message of each session.
        actions: The calls that solve its task, in order; empty for a chat.
        reward: What the recorded run was given for its task, 0 to 1, or None.
        split: Whether constants may be chosen on it.
    """

    name: str
    transcript: Transcript
    questions: tuple[Question, ...] = ()
    starts: tuple[int, ...] = (0,)
    actions: tuple[Action, ...] = ()
    reward: float | None = None
    split: Split = "report"

    def __repr__(self) -> str:
        return (
            f"Conversation({self.name!r}, {len(self.transcript)} messages in {len(self.starts)} sessions, "
            f"{len(self.questions)} questions)"
        )

    @property
    def sessions(self) -> tuple[Transcript, ...]:
        """Each session as a transcript of its own."""
        whole = self.transcript
        return tuple(
            Transcript(whole[span.start : span.stop], name=f"{self.name}, session {number}", model=whole.model)
            for number, span in enumerate(self._spans(), start=1)
        )

    def _spans(self) -> list[range]:
        ends = (*self.starts[1:], len(self.transcript))
        return [range(start, end) for start, end in zip(self.starts, ends, strict=True)]

    def shuffled(self, seed: int) -> Conversation:
        """The same sessions in another order, each whole, and the questions about the same messages.

        Messages keep their times, so that a question of time keeps its answer.

        Args:
            seed: Of the order; the same seed gives the same order.
        """
        spans = self._spans()
        random.Random(seed).shuffle(spans)  # noqa: S311 - an order, no secret
        order = [index for span in spans for index in span]
        place_of = {index: place for place, index in enumerate(order)}
        starts = tuple(place_of[span.start] for span in spans)
        return replace(
            self,
            transcript=Transcript(
                (self.transcript[index] for index in order),
                report=self.transcript.report,
                name=self.transcript.name,
                model=self.transcript.model,
            ),
            questions=tuple(question.moved(place_of) for question in self.questions),
            starts=starts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Under which terms a data set may be used.

    Attributes:
        licence: Name of the licence.
        duties: What it asks for, in one sentence.
        source: Where the data is published.
        paper: What to cite.
    """

    licence: str
    duties: str
    source: str
    paper: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Dataset(Carded, Sequence[Conversation]):
    """A data set: a sequence of conversations, to be indexed by place or by name.

    Attributes:
        name: Its name.
        terms: Licence, source and paper.
        path: Where it was read from.
        conversations: Its conversations.
        report: What had to be mended to read it, counted.
    """

    name: str
    terms: Terms
    path: str
    conversations: tuple[Conversation, ...]
    report: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self)} conversations, {len(self.questions)} questions)"

    def __len__(self) -> int:
        return len(self.conversations)

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    @overload
    def __getitem__(self, at: int | str) -> Conversation: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Conversation, ...]: ...
    def __getitem__(self, at: int | str | slice) -> Conversation | tuple[Conversation, ...]:
        if not isinstance(at, str):
            return self.conversations[at]
        found = next((one for one in self.conversations if one.name == at), None)
        if found is None:
            names = ", ".join(one.name for one in self.conversations[:12])
            raise ConfigError(f"{self.name} has no conversation {at!r}.", f"Its first are {names}.", subject=at)
        return found

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions of all conversations."""
        return tuple(question for one in self.conversations for question in one.questions)

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """The transcript of each conversation."""
        return tuple(one.transcript for one in self.conversations)

    def only(self, keep: Callable[[Conversation], bool]) -> Dataset:
        """The data set with some of its conversations."""
        return replace(self, conversations=tuple(filter(keep, self.conversations)))

    def split(self, name: Split) -> Dataset:
        """The conversations to choose constants on (`tuning`), or those to report figures of (`report`)."""
        return self.only(lambda one: one.split == name)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each conversation."""
        return [_record(one) for one in self.conversations]

    @property
    def df(self) -> DataFrame:
        """One row a conversation."""
        from harness_nb.frames.lab_frames import conversations_frame

        return conversations_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        messages = sum(len(one.transcript) for one in self)
        said = [
            count(len(self), "conversation"),
            count(messages, "message"),
            count(len(self.questions), "question") if self.questions else "",
            f"licence {self.terms.licence}",
        ]
        rows = [tuple(record.values()) for record in self.records]
        found = [(one.what, one.count, ", ".join(one.where)) for one in self.report]
        blocks = (
            Table.of(tuple(_record_head()), rows, noun="conversation"),
            Table.of(("found in the files", "times", "where"), found, caption="Mended", is_open=False),
        )
        notes = (self.terms.duties, f"Source: {self.terms.source}. Paper: {self.terms.paper}.")
        return Card(self.name, " · ".join(filter(None, said)), blocks if found else blocks[:1], notes)


def _record(one: Conversation) -> dict[str, Any]:
    named = [question for question in one.questions if question.evidence]
    return {
        "conversation": one.name,
        "sessions": len(one.starts),
        "messages": len(one.transcript),
        "characters": sum(len(message.text) for message in one.transcript),
        "questions": len(one.questions),
        "with_evidence": len(named),
        "actions": len(one.actions),
        "reward": one.reward,
        "split": one.split,
    }


def _record_head() -> Iterable[str]:
    return _record(Conversation(name="", transcript=Transcript())).keys()
