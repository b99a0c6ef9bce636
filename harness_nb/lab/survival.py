"""What became of the evidence of questions in a context: still there, told in other words, to be found, or gone.

Each evidence message gets the best of five classes:

* `verbatim`: the context holds its text word for word, as itself or in what the harness made of it, such as a pin;
* `truncated`: it is shown shortened, or an item that stands for it holds at least half of its rare words, by weight;
* `memory`: texts of the durable memory hold at least half of them;
* `search`: a search with the question brings it among the first k of those that are not verbatim in the context;
* `gone`: none of these.

All figures are means over the questions that have evidence, of the share of a question's evidence messages. The presence of
words is an upper bound of what a model recalls: absence proves loss, presence does not prove use.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from harness_nb.core.item import Item
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.datasets.record import Conversation, Question
from harness_nb.lab.rarity import RareWords, words_of
from harness_nb.lab.retrieval import ALL, searchable

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

Reach = Literal["verbatim", "truncated", "memory", "search", "gone"]
REACHES: tuple[Reach, ...] = get_args(Reach)
"""The classes, best first."""

K = 10
"""Hits of a search that count, as many as the memory's search gives by default."""

TOLD = 0.5
"""Share of its rare words, by weight, from which on a message counts as told in another text."""

_LEAST_WORDS = 4  # a shorter message, such as a greeting, may stand in another text by chance
_OLD, _NEW = "original_info", "updated_info"


def is_update(question: Question) -> bool:
    """Whether a question is about a fact that was superseded, both labelled."""
    return bool(question.groups.get(_OLD) and question.groups.get(_NEW))


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of one evidence message.

    Attributes:
        index: Its place in the transcript.
        reach: The best way in which it can still be reached.
        is_found: Whether a search with the question brings it among the first k that are not verbatim in the context.
        graded: Share of its rare words, by weight, anywhere in the context, 0 to 1.
    """

    index: int
    reach: Reach
    is_found: bool
    graded: float

    @property
    def is_reachable(self) -> bool:
        """Whether its whole text is in the context or among the hits."""
        return self.reach == "verbatim" or self.is_found

    @property
    def is_shown(self) -> bool:
        """Whether the context holds it, whole or not."""
        return self.reach in ("verbatim", "truncated")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the evidence of one question."""

    question: Question
    evidence: tuple[Standing, ...]

    def share(self, holds: Callable[[Standing], float]) -> float:
        """Mean of a figure over its evidence messages."""
        return statistics.fmean(map(holds, self.evidence))

    @property
    def is_stale(self) -> bool | None:
        """Whether the context shows what was superseded and nothing of what superseded it; None for other questions."""
        if not is_update(self.question):
            return None
        old, new = (self.question.groups[name] for name in (_OLD, _NEW))
        shown = {one.index for one in self.evidence if one.is_shown}
        return not shown.isdisjoint(old) and shown.isdisjoint(new)


@dataclass(frozen=True, kw_only=True, repr=False)
class Survival(Carded):
    """What became of the evidence of a conversation's questions in one context.

    Attributes:
        conversation: Name of the conversation.
        outcomes: One for each question that has evidence.
        k: Hits of a search that count.
    """

    conversation: str
    outcomes: tuple[Outcome, ...]
    k: int = K

    def __repr__(self) -> str:
        return f"Survival({self.conversation!r}, {len(self.outcomes)} questions, {self.verbatim:.1%} verbatim)"

    def of(self, keep: Callable[[Question], bool]) -> Survival:
        """The same for some of the questions."""
        kept = tuple(one for one in self.outcomes if keep(one.question))
        return Survival(conversation=self.conversation, outcomes=kept, k=self.k)

    def of_category(self, name: str) -> Survival:
        """The same for the questions of one category."""
        return self.of(lambda question: question.category == name)

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the questions, in order of first use."""
        return tuple(dict.fromkeys(one.question.category for one in self.outcomes))

    def reach(self, reach: Reach) -> float:
        """Share of the evidence in one class, 0 to 1."""
        return self._mean(lambda one: one.reach == reach)

    @property
    def verbatim(self) -> float:
        """Evidence survival: share of the evidence still word for word in the context, 0 to 1."""
        return self.reach("verbatim")

    @property
    def graded(self) -> float:
        """Graded survival: share of the rare words of the evidence, by weight, anywhere in the context, 0 to 1."""
        return self._mean(lambda one: one.graded)

    @property
    def reachable(self) -> float:
        """Share of the evidence that is word for word in the context or among the first k hits of a search, 0 to 1."""
        return self._mean(lambda one: one.is_reachable)

    @property
    def all_reachable(self) -> float:
        """Share of questions all whose evidence is reachable, 0 to 1."""
        whole = [all(one.is_reachable for one in outcome.evidence) for outcome in self.outcomes]
        return statistics.fmean(whole) if whole else float("nan")

    @property
    def stale(self) -> float | None:
        """Share of superseded facts that the context shows without what superseded them; None where none are labelled."""
        said = [one.is_stale for one in self.outcomes if one.is_stale is not None]
        return statistics.fmean(said) if said else None

    def _mean(self, holds: Callable[[Standing], float]) -> float:
        return statistics.fmean(one.share(holds) for one in self.outcomes) if self.outcomes else float("nan")

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each question and evidence message."""
        return [
            {
                "conversation": self.conversation,
                "question": one.question.id,
                "category": one.question.category,
                "text": one.question.text,
                "index": standing.index,
                "reach": standing.reach,
                "is_found": standing.is_found,
                "graded": standing.graded,
            }
            for one in self.outcomes
            for standing in one.evidence
        ]

    @property
    def df(self) -> DataFrame:
        """One row for each question and evidence message."""
        from harness_nb.frames.lab_frames import evidence_frame

        return evidence_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        parts = {ALL: self} | {name: self.of_category(name) for name in self.categories}
        rows = [(name, len(part.outcomes), *map(_percent, part._figures())) for name, part in parts.items()]
        head = ("category", "questions", *REACHES, "graded", f"reachable at {self.k}", "all reachable")
        line = f"{count(len(self.outcomes), 'question')} with evidence · shares of the evidence in %"
        note = "What is absent is lost; what is present need not be used."
        return Card(f"Evidence of {self.conversation}", line, (Table.of(head, rows, noun="category"),), (note,))

    def _figures(self) -> Iterator[float]:
        yield from map(self.reach, REACHES)
        yield from (self.graded, self.reachable, self.all_reachable)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


class Evidence:
    """The evidence of a conversation, made ready so that many contexts are looked at quickly.

    The search is over all messages, as in the live index, which has each from when it is said: word statistics and ranks
    are those of the whole conversation, and of the hits only those count that are not verbatim in the context. So one
    search a question, done when first needed, answers for every context. An index of what has left alone differs by its
    word statistics only: with two thirds gone, on 9 of 1,069 questions of LoCoMo and BEAM, by half a point and one.

    Args:
        conversation: With questions that have evidence.
        k: Hits of a search that count; 0 looks for nothing.

    Raises:
        ConfigError: No question has evidence.
    """

    def __init__(self, conversation: Conversation, *, k: int = K) -> None:
        self.conversation = conversation
        self.k = k
        self._asked = tuple(question for question in conversation.questions if question.evidence)
        if not self._asked:
            raise ConfigError(
                f"{conversation.name!r} has no question with evidence.",
                "Give a conversation of LoCoMo, BEAM or LongMemEval.",
                subject=conversation,
            )
        self._needed = frozenset(index for question in self._asked for index in question.evidence)

    def survival(self, items: Iterable[Item], memory: Iterable[str] = ()) -> Survival:
        """What became of the evidence in a context.

        Args:
            items: The context, as sent.
            memory: Texts of the durable memory, such as MEMORY.md and the daily logs.
        """
        context = _Context(self.conversation, self._rare, self._needed, tuple(items))
        remembered = words_of("\n".join(memory))
        outcomes = []
        for number, question in enumerate(self._asked):
            found = self._found(number, context.verbatim)
            standings = tuple(self._standing(one, context, remembered, found) for one in question.evidence)
            outcomes.append(Outcome(question, standings))
        return Survival(conversation=self.conversation.name, outcomes=tuple(outcomes), k=self.k)

    def _standing(self, index: int, context: _Context, remembered: frozenset[str], found: frozenset[int]) -> Standing:
        if index in context.verbatim:
            return Standing(index, "verbatim", False, 1.0)
        is_found = index in found
        if context.tells(index):
            reach: Reach = "truncated"
        elif self._rare.told(index, remembered) >= TOLD:
            reach = "memory"
        else:
            reach = "search" if is_found else "gone"
        return Standing(index, reach, is_found, self._rare.share(index, context.words))

    def _found(self, number: int, verbatim: frozenset[int]) -> frozenset[int]:
        """The first k hits of a question's search that are not in the context."""
        if not self.k or self._needed <= verbatim:
            return frozenset()
        hits = (index for index in self._ranked[number] if index not in verbatim)
        return frozenset(index for index, _ in zip(hits, range(self.k), strict=False))

    @cached_property
    def _rare(self) -> RareWords:
        return RareWords(self.conversation.transcript)

    @cached_property
    def _ranked(self) -> tuple[tuple[int, ...], ...]:
        """All messages that a search with each question brings, best first."""
        with searchable(self.conversation) as search:
            return tuple(search(question.text, len(self.conversation.transcript)) for question in self._asked)


class _Context:
    """A context, looked at for some messages of a conversation.

    Attributes:
        verbatim: Messages whose text stands in it word for word.
    """

    def __init__(
        self, conversation: Conversation, rare: RareWords, needed: frozenset[int], items: tuple[Item, ...]
    ) -> None:
        self._rare = rare
        self._needed = needed
        transcript = conversation.transcript
        whole: set[int] = set()
        self._others: list[Item] = []
        for item in items:
            index = item.index
            if index is not None and item.message.content == transcript[index].content:
                whole.add(index)
            else:
                self._others.append(item)
        lost = needed - whole
        made = "\n".join(item.message.text for item in self._others) if lost else ""
        self.verbatim = frozenset(whole | {index for index in lost if _is_quoted(transcript[index].text, made)})
        self._whole = frozenset(whole)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the context."""
        return frozenset().union(*(self._rare.words[index] for index in self._whole), *self._words)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """The words of each item that is no message as it was said."""
        return [words_of(item.message.text) for item in self._others]

    @cached_property
    def _standing_for(self) -> Mapping[int, list[int]]:
        """Positions among the other items of those that show or stand for a message."""
        found: dict[int, list[int]] = {}
        for at, item in enumerate(self._others):
            for index in self._needed.intersection(item.indices):
                found.setdefault(index, []).append(at)
        return found

    def tells(self, index: int) -> bool:
        """Whether what shows a message shortened, or stands for it, holds enough of its rare words."""
        for at in self._standing_for.get(index, ()):
            told = self._rare.told(index, self._words[at])
            if told >= TOLD or (self._others[at].index == index and told > 0):
                return True
        return False


def _is_quoted(text: str, made: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS and text.strip() in made
