"""Models judge answers: whether each meets its rubric, or says what the gold answer says; and how far judges agree.

One statement a call, and nothing but the question, the answer and the statement: a judge sees neither the context nor which
policy left it. A judge gives its reason first and its verdict in the last line; a reply without a verdict counts as
unread, never as a no.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import Message
from harness_nb.lab.carded import Carded
from harness_nb.lab.certainty import LEVEL, Agreement, Interval, agreement, bootstrap, standard_error
from harness_nb.lab.datasets.record import Question
from harness_nb.lab.exchanges import Exchange, Exchanges, resolved
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.questions import Answer, Answers
from harness_nb.lab.retrieval import ALL
from harness_nb.model.base import Model

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

PURPOSE = "judge"
"""Purpose of the requests, by which a `ScriptedModel` is given its verdicts."""

MAX_TOKENS = 300
"""Limit on a verdict: one or two sentences and a line."""

_VERDICT = re.compile(r"verdict\W{0,4}(yes|no)\b", re.IGNORECASE)
_BARE = re.compile(r"\W*(yes|no)\b\W*", re.IGNORECASE)
_END = (
    "Give your reason in one or two sentences. Then write a last line that is either `verdict: yes` or `verdict: no`."
)

_STATEMENT = (
    "You check a reply against one statement of what a good reply does. Judge that statement and nothing else: neither "
    "style, nor length, nor whether you would have replied otherwise. The statement is met when the reply does what it says, "
    "in whatever words; it is not met when the reply does so in part only, leaves it open, or says the opposite. "
    + _END
)
_GOLD = (
    "You compare an answer with the right answer to the same question. It is right when it gives the same fact, in whatever "
    "words; a date may be written in any way. More that does not contradict the right answer does no harm. It is wrong when "
    "the fact is missing, another one is given, part of a list is missing, or it is left open. " + _END
)
_ABSENT = (
    "The question below can't be answered from the conversation it is about. Check whether the answer says so. It does when "
    "it says that this is not known, was not mentioned or is a false premise; it does not when it gives any fact as the "
    "answer. " + _END
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one judge said of one statement about one answer.

    Attributes:
        judge: Name of the judge.
        answer: The answer judged.
        statement: The statement of the rubric, or what the answer was compared with.
        exchange: Whole prompt and reply.
    """

    judge: str
    answer: Answer
    statement: str
    exchange: Exchange

    @property
    def is_met(self) -> bool | None:
        """The verdict; None where the reply holds none."""
        return verdict_in(self.exchange.reply)


def verdict_in(reply: str) -> bool | None:
    """The verdict of a reply: the last that is marked as one, or a reply that is nothing but yes or no."""
    marked = _VERDICT.findall(reply)
    bare = _BARE.fullmatch(reply)
    word = marked[-1] if marked else bare[1] if bare else ""
    return word.lower() == "yes" if word else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Judgement(Carded):
    """Verdicts of one judge or several on the same answers.

    Attributes:
        verdicts: By judge, then by answer, then by statement.
        judges: Names of the judges.
    """

    verdicts: tuple[Verdict, ...]
    judges: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Judgement({len(self.verdicts)} verdicts by {', '.join(self.judges)})"

    def of(self, keep: Callable[[Question], bool]) -> Judgement:
        """The same for some of the questions."""
        kept = tuple(one for one in self.verdicts if keep(one.answer.question))
        return Judgement(verdicts=kept, judges=self.judges)

    def of_category(self, name: str) -> Judgement:
        """The same for the questions of one category."""
        return self.of(lambda question: question.category == name)

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the questions, in order of first use."""
        return tuple(dict.fromkeys(one.answer.question.category for one in self.verdicts))

    def scores(self, judge: str | None = None) -> tuple[tuple[Answer, float], ...]:
        """Each answer with the share of its statements met, 0 to 1; one without any readable verdict is left out.

        Args:
            judge: Name of the judge, the first by default.
        """
        said: dict[int, tuple[Answer, list[bool]]] = {}
        for one in self.verdicts:
            if one.judge == (judge or self.judges[0]) and (is_met := one.is_met) is not None:
                said.setdefault(id(one.answer), (one.answer, []))[1].append(is_met)
        return tuple((answer, statistics.fmean(met)) for answer, met in said.values())

    def score(self, judge: str | None = None) -> float | None:
        """Mean share of statements met over answers, 0 to 1; None without any."""
        values = [value for _, value in self.scores(judge)]
        return statistics.fmean(values) if values else None

    def interval(self, judge: str | None = None, *, seed: int = 0, level: float = LEVEL) -> Interval:
        """The score with its interval, conversations resampled."""
        values: dict[str, list[float]] = {}
        for answer, value in self.scores(judge):
            values.setdefault(answer.conversation, []).append(value)
        return bootstrap(values, seed=seed, level=level)

    def unread(self, judge: str | None = None) -> int:
        """Replies of a judge without a verdict."""
        return sum(one.is_met is None for one in self.verdicts if one.judge == (judge or self.judges[0]))

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """How far each two judges agree, statement by statement, where both gave a verdict."""
        by_judge = {name: [one for one in self.verdicts if one.judge == name] for name in self.judges}
        return tuple(
            agreement(first, second, list(_pairs(by_judge[first], by_judge[second])))
            for first, second in itertools.combinations(self.judges, 2)
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each verdict."""
        return [
            {
                "conversation": one.answer.conversation,
                "question": one.answer.question.id,
                "category": one.answer.question.category,
                "judge": one.judge,
                "statement": one.statement,
                "answer": one.answer.text,
                "is_met": one.is_met,
                "reason": one.exchange.reply,
            }
            for one in self.verdicts
        ]

    @property
    def df(self) -> DataFrame:
        """One row a verdict."""
        from harness_nb.frames.lab_frames import verdicts_frame

        return verdicts_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        parts = {ALL: self} | {name: self.of_category(name) for name in self.categories}
        rows = [part._row(name, judge) for name, part in parts.items() for judge in self.judges]
        head = ("category", "judge", "answers", "score", "standard error", "unread")
        pairs = [(one.first, one.second, one.number, one.share, one.kappa) for one in self.agreements]
        blocks = [Table.of(head, rows, noun="row")]
        if pairs:
            among = ("judge", "and", "verdicts", "agree (0 to 1)", "Cohen's kappa")
            blocks.append(Table.of(among, pairs, caption="Agreement"))
        notes = tuple(f"{judge}: {self.interval(judge)}, conversations resampled" for judge in self._with_scores())
        return Card("Judgement", count(len(self.verdicts), "verdict"), tuple(blocks), notes)

    def _with_scores(self) -> Iterator[str]:
        return (judge for judge in self.judges if self.scores(judge))

    def _row(self, category: str, judge: str) -> tuple[object, ...]:
        score, number = self.score(judge), len(self.scores(judge))
        error = standard_error(score, number) if score is not None else None
        return category, judge, number, score, error, self.unread(judge)


def _pairs(first: Sequence[Verdict], second: Sequence[Verdict]) -> Iterator[tuple[bool, bool]]:
    """Verdicts of two judges on the same statements, where both gave one."""
    for one, other in zip(first, second, strict=True):
        a, b = one.is_met, other.is_met
        if a is not None and b is not None:
            yield a, b


def judge(
    answers: Answers,
    judges: str | Model | Sequence[str | Model],
    *,
    folder: str | Path | None = None,
    progress: Progress | bool = False,
) -> Judgement:
    """Lets models judge answers.

    A question with a rubric is judged statement by statement; any other by its gold answer; one without an answer by
    whether that is said.

    Args:
        answers: What to judge.
        judges: A model or several, by name or as they are, each with a name of its own.
        folder: Where prompts and verdicts are kept; what is there already is not asked again. None keeps them in memory.
        progress: True for a bar, or a function that is called with the verdicts given and all of them.

    Raises:
        ConfigError: A judge is unknown, or two have the same name.
        ModelError: A judge failed; its verdicts before are in the folder.
    """
    models = resolved(judges)
    exchanges = Exchanges(folder)
    asked = [(one, *check) for one in answers.answers for check in _checks(one.question)]
    verdicts: list[Verdict] = []
    with following(progress, len(models) * len(asked), "verdicts") as told:
        for model, (one, system, statement) in itertools.product(models, asked):
            messages = (Message.system(system), Message.user(_case(one, statement)))
            exchange = exchanges.ask(model, messages, purpose=PURPOSE, max_tokens=MAX_TOKENS)
            verdicts.append(Verdict(judge=model.limits.name, answer=one, statement=statement, exchange=exchange))
            told(1)
    return Judgement(verdicts=tuple(verdicts), judges=tuple(model.limits.name for model in models))


def _checks(question: Question) -> list[tuple[str, str]]:
    """What is asked about an answer: the judge's task, and the statement to hold it against."""
    if question.rubric:
        return [(_STATEMENT, statement) for statement in question.rubric]
    return [(_GOLD, question.answer)] if question.is_answerable else [(_ABSENT, "")]


def _case(answer: Answer, statement: str) -> str:
    said: Mapping[str, str] = {
        "question": answer.question.text,
        "answer": answer.text,
        "statement" if answer.question.rubric else "right_answer": statement,
    }
    return "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in said.items() if text)
