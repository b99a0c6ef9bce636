"""A model answers the questions about a conversation from what a policy left of it; every prompt and answer is kept.

A question with a rubric is answered as the assistant of the conversation would, since rubrics judge whole replies; any
other in as few words as it allows, since these are compared with a short gold answer. One question a call.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.errors import ConfigError
from harness_nb.lab.answer_score import DECLINES, answer_f1, declines
from harness_nb.lab.carded import Carded
from harness_nb.lab.certainty import LEVEL, Interval, bootstrap
from harness_nb.lab.datasets.record import Conversation, Question
from harness_nb.lab.exchanges import Exchange, Exchanges, resolved
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.retrieval import ALL, Search, said_at, searchable
from harness_nb.lab.run import Replay
from harness_nb.model.base import Model

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

PURPOSE = "question"
"""Purpose of the requests, by which a `ScriptedModel` is given its answers."""

MAX_SHORT_TOKENS, MAX_REPLY_TOKENS = 200, 1_200
"""Limits on an answer: one of a few words with room for a reason, and a whole reply."""

_SHORT = (
    "You are asked one question about a conversation between people. Below is all that is left of it for you: what is in "
    "the context, and, where given, older messages that a search found. Rely on nothing else. Answer with the fact alone, "
    "in as few words as it takes; of several facts, give each, with commas between them. Say which day is meant, not how "
    f"long ago it was. If what you have does not hold the answer, write exactly: {DECLINES}"
)
_REPLY = (
    "You are the assistant in the conversation below. What you see is all that is left of it for you: what is in the "
    "context, and, where given, older messages that a search found. The user now writes the message at the end. Reply to it "
    "as this assistant, and hold to what the user has asked of you and told you. Where it asks for something that the "
    "conversation does not hold, say so instead of guessing; where the user has contradicted themselves, point it out."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model answered to one question.

    Attributes:
        conversation: Name of the conversation.
        question: The question.
        exchange: Whole prompt and answer.
        found: Messages that the search added to the prompt, best first.
    """

    conversation: str
    question: Question
    exchange: Exchange
    found: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The answer."""
        return self.exchange.reply

    @property
    def f1(self) -> float | None:
        """Its F1 by LoCoMo's rules, 0 to 1; None for a question with a rubric, or one that names no right answer."""
        if self.question.rubric or (self.question.is_answerable and not self.question.answer):
            return None
        return answer_f1(self.question, self.text)


class Abstention(NamedTuple):
    """How an answering model declines.

    Attributes:
        declined: Share of unanswerable questions declined, as they should be; None without any.
        wrongly_declined: Share of answerable questions declined; None without any.
    """

    declined: float | None
    wrongly_declined: float | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Answers(Carded):
    """Answers of one model.

    Attributes:
        answers: One for each question.
        model: Name of the model.
        policy: Policy that left the context, or `whole conversation`.
        k: Hits of a search that were added to each prompt.
    """

    answers: tuple[Answer, ...]
    model: str
    policy: str
    k: int = 0

    def __repr__(self) -> str:
        return f"Answers({len(self.answers)} by {self.model!r} under {self.policy!r})"

    def __add__(self, other: Answers) -> Answers:
        """The answers about further conversations, by the same model under the same policy.

        Raises:
            ConfigError: Model, policy or k differ.
        """
        if (self.model, self.policy, self.k) != (other.model, other.policy, other.k):
            raise ConfigError(
                f"{other!r} can't be added to {self!r}.", "Add those of the same model, policy and k.", subject=other
            )
        return Answers(answers=self.answers + other.answers, model=self.model, policy=self.policy, k=self.k)

    def of(self, keep: Callable[[Answer], bool]) -> Answers:
        """The same for some of the questions."""
        return Answers(answers=tuple(filter(keep, self.answers)), model=self.model, policy=self.policy, k=self.k)

    def of_category(self, name: str) -> Answers:
        """The same for the questions of one category."""
        return self.of(lambda one: one.question.category == name)

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the questions, in order of first use."""
        return tuple(dict.fromkeys(one.question.category for one in self.answers))

    @property
    def f1(self) -> float | None:
        """Mean F1 of the questions that have one, 0 to 1; None without any."""
        values = [value for one in self.answers if (value := one.f1) is not None]
        return statistics.fmean(values) if values else None

    def interval(self, *, seed: int = 0, level: float = LEVEL) -> Interval:
        """The mean F1 with its interval, conversations resampled."""
        values: dict[str, list[float]] = {}
        for one in self.answers:
            if (value := one.f1) is not None:
                values.setdefault(one.conversation, []).append(value)
        return bootstrap(values, seed=seed, level=level)

    @property
    def abstention(self) -> Abstention:
        """How the model declines, by the words of its answers."""
        shares = []
        for is_answerable in (False, True):
            said = [declines(one.text) for one in self.answers if one.question.is_answerable == is_answerable]
            shares.append(statistics.fmean(said) if said else None)
        return Abstention(*shares)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each answer."""
        return [
            {
                "conversation": one.conversation,
                "question": one.question.id,
                "category": one.question.category,
                "text": one.question.text,
                "gold": one.question.answer,
                "answer": one.text,
                "f1": one.f1,
                "declines": declines(one.text),
                "is_answerable": one.question.is_answerable,
                "model": self.model,
                "policy": self.policy,
            }
            for one in self.answers
        ]

    @property
    def df(self) -> DataFrame:
        """One row an answer."""
        from harness_nb.frames.lab_frames import answers_frame

        return answers_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        parts = {ALL: self} | {name: self.of_category(name) for name in self.categories}
        rows = [(name, len(part.answers), part.f1, *part.abstention) for name, part in parts.items()]
        head = ("category", "answers", "F1 (0 to 1)", "declined, unanswerable", "declined, answerable")
        line = f"{count(len(self.answers), 'answer')} by {self.model} · policy {self.policy} · {self.k} hits a question"
        note = "Answers with a rubric have no F1: judge them."
        return Card("Answers", line, (Table.of(head, rows, noun="category"),), (note,))


def answer(
    conversation: Conversation,
    model: str | Model,
    *,
    run: Replay | None = None,
    k: int = 0,
    questions: Iterable[Question] | None = None,
    folder: str | Path | None = None,
    progress: Progress | bool = False,
) -> Answers:
    """Asks a model the questions about a conversation.

    Args:
        conversation: With questions.
        model: Answers: a name, or a model; the offline model does not answer questions.
        run: A replay of the conversation; its last context is what the model sees. None shows the whole conversation.
        k: Messages that a search with the question adds, of those that are not in the context.
        questions: Which of its questions; all by default.
        folder: Where prompts and answers are kept; what is there already is not asked again. None keeps them in memory.
        progress: True for a bar, or a function that is called with the questions answered and all of them.

    Raises:
        ConfigError: There is no question, the model is unknown, or the replay is of another transcript.
        ModelError: The model failed; what it answered before is in the folder.
    """
    (chosen,) = resolved(model)
    asked = tuple(conversation.questions if questions is None else questions)
    if not asked:
        raise ConfigError(f"{conversation.name!r} has no question.", "Give one that has.", subject=conversation)
    items = _context(conversation, run)
    exchanges = Exchanges(folder)
    answers = []
    with following(progress, len(asked), "questions") as told:
        for question, found in _searched(conversation, asked, items, k):
            messages = prompt(conversation, question, items, found)
            limit = MAX_REPLY_TOKENS if question.rubric else MAX_SHORT_TOKENS
            exchange = exchanges.ask(chosen, messages, purpose=PURPOSE, max_tokens=limit)
            answers.append(Answer(conversation=conversation.name, question=question, exchange=exchange, found=found))
            told(1)
    policy = run.policy if run is not None else "whole conversation"
    return Answers(answers=tuple(answers), model=chosen.limits.name, policy=policy, k=k)


def _context(conversation: Conversation, run: Replay | None) -> Sequence[Item]:
    if run is None:
        return [Item(index, message) for index, message in enumerate(conversation.transcript)]
    if run.transcript != conversation.transcript:
        raise ConfigError(
            f"{run!r} is no replay of {conversation.name!r}.", "Replay the conversation's own transcript.", subject=run
        )
    return run.final.input


def _searched(
    conversation: Conversation, questions: Sequence[Question], items: Iterable[Item], k: int
) -> Iterator[tuple[Question, tuple[int, ...]]]:
    """Each question with the first k messages that a search brings and the context does not hold."""
    if not k:
        yield from ((question, ()) for question in questions)
        return
    shown = {item.index for item in items if item.how == "kept"}
    with searchable(conversation) as search:
        for question in questions:
            yield question, _first_hits(search, question.text, k, shown)


def _first_hits(search: Search, text: str, k: int, shown: set[int | None]) -> tuple[int, ...]:
    hits = search(text, k + len(shown))
    return tuple(index for index in hits if index not in shown)[:k]


def prompt(
    conversation: Conversation, question: Question, items: Iterable[Item], found: Iterable[int] = ()
) -> tuple[Message, ...]:
    """What a model is shown for one question.

    Args:
        conversation: For the messages found.
        question: The question.
        items: The context.
        found: Indices of messages that a search brought.
    """
    context = "\n".join(_line(item.message) for item in items)
    hits = "\n".join(_line(conversation.transcript[index]) for index in found)
    parts = [f"<context>\n{context}\n</context>"]
    parts += [f"<found>\n{hits}\n</found>"] if hits else []
    parts.append(f"{'The user writes' if question.rubric else 'Question'}: {question.text}")
    return Message.system(_REPLY if question.rubric else _SHORT), Message.user("\n\n".join(parts))


def _line(message: Message) -> str:
    """A message with who said it and when."""
    when = said_at(message)
    who = "note" if message.origin == "harness" else message.name or message.role
    return f"[{when}] {who}: {message.text}" if when else f"{who}: {message.text}"
