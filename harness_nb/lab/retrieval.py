"""How much of the evidence a memory search brings: ranking metrics, and a search over a conversation to measure.

For ranked hits h1, h2, ... and a set E of relevant ones:

* `recall@k` is the share of E among the first k; `hit@k` is 1 when at least one is; `all@k` when each is. On the same run
  these differ by 10 to 20 points, so a figure always says which it is.
* `MRR` is 1 / rank of the first relevant hit, 0 without one.
* `nDCG@k` is DCG / IDCG with `DCG = sum rel_j / log2(j + 1)` over the first k.

Each is meaned over questions; questions without evidence are left out.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import Message
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.datasets.record import Conversation, Question
from harness_nb.store.index import MemoryIndex

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

KS = (5, 10, 25, 50)
"""Numbers of hits at which figures are given, as in the published tables on LoCoMo."""

ALL = "all"
"""Name of the category that holds every question."""


def recall_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """Share of what is relevant among the first k hits, 0 to 1."""
    return len(relevant & set(ranked[:k])) / len(relevant)


def hit_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """1 when at least one of the first k hits is relevant, else 0."""
    return float(not relevant.isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """1 when all that is relevant is among the first k hits, else 0."""
    return float(relevant <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[int], relevant: Set[int]) -> float:
    """1 / rank of the first relevant hit, 0 without one."""
    return next((1 / rank for rank, hit in enumerate(ranked, start=1) if hit in relevant), 0.0)


def ndcg_at(ranked: Sequence[int], relevant: Set[int], k: int) -> float:
    """Discounted gain of the first k hits by that of the best order, 0 to 1; a hit gains 1 or nothing, each place once."""
    gain = math.fsum(_discount(rank) for rank, hit in enumerate(dict.fromkeys(ranked[:k]), 1) if hit in relevant)
    return gain / math.fsum(map(_discount, range(1, min(k, len(relevant)) + 1)))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def log_line(message: Message) -> str:
    """A message as one line of a log: when, who, what. Speaker and date in it are worth four points of recall."""
    text = " ".join(message.text.split())
    return " ".join(filter(None, (said_at(message), f"{message.name or message.role}:", text)))


def said_at(message: Message) -> str:
    """When a message was said, in words; empty where that is not known, without a clock where only the day is."""
    moment = message.time
    if moment is None:
        return ""
    day = f"{moment.day} {moment:%B}, {moment.year}"
    clock = f"{moment.hour % 12 or 12}:{moment.minute:02d} {'am' if moment.hour < 12 else 'pm'}"
    return day if moment.time() == time.min else f"{clock} on {day}"


Search = Callable[[str, int], tuple[int, ...]]
"""A text and a limit to indices of messages, best first."""


@contextmanager
def searchable(conversation: Conversation, **settings: Any) -> Iterator[Search]:
    """A search over all messages of a conversation, each a line of the daily log of its day, in a temporary folder.

    A hit that is no message, such as the heading of a log beside one, is passed over.

    Args:
        conversation: What is searched.
        **settings: Settings of `MemoryIndex.search`, such as `mode` and `neighbours`; its defaults without any.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, MemoryIndex(folder) as index:
        places = _write_logs(Path(folder), conversation)
        index.refresh()

        def search(text: str, limit: int) -> tuple[int, ...]:
            hits = index.search(text, limit=limit, **settings)
            return tuple(places[place] for place in hits.places if place in places)

        yield search


def _write_logs(folder: Path, conversation: Conversation) -> dict[tuple[str, int], int]:
    """Writes the messages as entries of logs and returns the index of each by file and line."""
    places: dict[tuple[str, int], int] = {}
    files: dict[str, list[str]] = {}
    for index, message in enumerate(conversation.transcript):
        day = message.time.date().isoformat() if message.time else ""
        name = f"memory/{day}.md" if day else "conversation.md"
        lines = files.setdefault(name, [f"# {day or conversation.name}", ""])
        lines.append(f"- {log_line(message)}")
        places[name, len(lines)] = index
    for name, lines in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search brought for one question.

    Attributes:
        conversation: Name of the conversation.
        question: The question.
        ranked: Indices of the messages found, best first.
        sizes: Tokens of each, four characters a token.
        seconds: How long the search took; of no account when results are compared.
    """

    conversation: str
    question: Question
    ranked: tuple[int, ...]
    sizes: tuple[int, ...]
    seconds: float = field(default=0.0, compare=False)

    @property
    def relevant(self) -> frozenset[int]:
        """Indices of the evidence."""
        return frozenset(self.question.evidence)


@dataclass(frozen=True, kw_only=True, repr=False)
class Retrieval(Carded):
    """What a search brought for all questions that have evidence.

    Attributes:
        found: Its hits, question by question.
        ks: Numbers of hits at which figures are given.
        settings: How it was searched; the defaults of `MemoryIndex.search` beside these.
        left_out: Questions without evidence.
    """

    found: tuple[Found, ...]
    ks: tuple[int, ...] = KS
    settings: Mapping[str, Any] = field(default_factory=dict)
    left_out: int = 0

    def __repr__(self) -> str:
        return f"Retrieval({len(self.found)} questions, k = {', '.join(map(str, self.ks))})"

    def of(self, keep: Callable[[Found], bool]) -> Retrieval:
        """The same for some of the questions."""
        return Retrieval(found=tuple(filter(keep, self.found)), ks=self.ks, settings=self.settings)

    def of_category(self, name: str) -> Retrieval:
        """The same for the questions of one category."""
        return self.of(lambda one: one.question.category == name)

    def recall(self, k: int) -> float:
        """Mean share of the evidence among the first k, 0 to 1."""
        return self._mean(lambda one: recall_at(one.ranked, one.relevant, k))

    def hit(self, k: int) -> float:
        """Share of questions with at least one evidence message among the first k."""
        return self._mean(lambda one: hit_at(one.ranked, one.relevant, k))

    def all(self, k: int) -> float:
        """Share of questions with all their evidence among the first k."""
        return self._mean(lambda one: all_at(one.ranked, one.relevant, k))

    def ndcg(self, k: int) -> float:
        """Mean nDCG at k, 0 to 1."""
        return self._mean(lambda one: ndcg_at(one.ranked, one.relevant, k))

    def tokens(self, k: int) -> float:
        """Mean tokens of the first k hits, four characters a token."""
        return self._mean(lambda one: sum(one.sizes[:k]))

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank of the first relevant hit, 0 to 1, over as many hits as were asked for."""
        return self._mean(lambda one: reciprocal_rank(one.ranked, one.relevant))

    def seconds(self, share: float = 0.5) -> float:
        """How long searches took: the time that a share of them did not exceed, 0.5 for the median."""
        ordered = sorted(one.seconds for one in self.found)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else math.nan

    def _mean(self, figure: Callable[[Found], float]) -> float:
        return statistics.fmean(map(figure, self.found)) if self.found else math.nan

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the questions, in order of first use."""
        return tuple(dict.fromkeys(one.question.category for one in self.found))

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each category and k, all questions first."""
        parts = {ALL: self} | {name: self.of_category(name) for name in self.categories}
        return [part._record(name, k) for name, part in parts.items() for k in self.ks]

    def _record(self, category: str, k: int) -> dict[str, Any]:
        return {
            "category": category,
            "k": k,
            "questions": len(self.found),
            "recall": self.recall(k),
            "hit": self.hit(k),
            "all": self.all(k),
            "ndcg": self.ndcg(k),
            "mrr": self.mrr,
            "tokens": self.tokens(k),
        }

    @property
    def df(self) -> DataFrame:
        """One row for each category and k."""
        from harness_nb.frames.lab_frames import retrieval_frame

        return retrieval_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        how = ", ".join(f"{name}={value!r}" for name, value in self.settings.items()) or "default settings"
        rows = [
            (one["category"], one["questions"], one["k"], *(f"{100 * one[name]:.1f}" for name in _FIGURES), one["mrr"])
            for one in self.records
        ]
        head = ("category", "questions", "k", "recall %", "any hit %", "all %", "nDCG %", "MRR")
        left_out = f"{count(self.left_out, 'question')} without evidence left out" if self.left_out else ""
        line = " · ".join(filter(None, (count(len(self.found), "question"), how, left_out)))
        note = "Each question is searched for in its own conversation; MRR looks at all hits that were asked for."
        return Card("Retrieval", line, (Table.of(head, rows, noun="row"),), (note,))


_FIGURES = ("recall", "hit", "all", "ndcg")


def retrieval(
    conversations: Conversation | Iterable[Conversation], *, ks: Sequence[int] = KS, **settings: Any
) -> Retrieval:
    """Searches for each question in its own conversation, and measures how much of its evidence is found.

    Args:
        conversations: A conversation or several, such as a data set.
        ks: Numbers of hits at which figures are given; as many as the largest are asked for.
        **settings: Settings of `MemoryIndex.search`.

    Raises:
        ConfigError: No question has evidence, or a setting is not valid.
    """
    given = [conversations] if isinstance(conversations, Conversation) else list(conversations)
    found = [one for conversation in given for one in _found(conversation, max(ks), settings)]
    if not found:
        raise ConfigError("There is no question with evidence.", "Give conversations of LoCoMo or BEAM.")
    asked = sum(len(one.questions) for one in given)
    return Retrieval(found=tuple(found), ks=tuple(ks), settings=settings, left_out=asked - len(found))


def _found(conversation: Conversation, limit: int, settings: Mapping[str, Any]) -> Iterator[Found]:
    counter = CharsCounter()
    sizes = [counter.count_text(log_line(message)) for message in conversation.transcript]
    with searchable(conversation, **settings) as search:
        for question in conversation.questions:
            if question.evidence:
                begin = perf_counter()
                ranked = search(question.text, limit)
                yield Found(
                    conversation=conversation.name,
                    question=question,
                    ranked=ranked,
                    sizes=tuple(sizes[index] for index in ranked),
                    seconds=perf_counter() - begin,
                )
