"""The sentences of a conversation, and whether two of them say the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness_nb.model.cues import bare_fact, fact_weight
from harness_nb.model.reading import Said
from harness_nb.model.sentences import content_words, normal, sentences, shortened

_LONGEST_CHARS = 320
_SAME_SHARE = 0.8
_QUOTED_WEIGHT = 3  # it was chosen once
_LABELS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_PERSONAL = re.compile(
    r"\b(?:I|[Mm](?:e|y|ine|yself)|[Ww]e|us|[Oo]urs?|ourselves|[Yy]ou(?:rs?|rself|rselves)?)\b|[我咱你您私僕俺]|(?<!\w)(?:나[는의를]|내|제|저[는희의]|우리)(?!\w)|(?<!\w)(?:내가|제가)"
)
_NEGATIONS = frozenset(("not", "never", "no", "don't", "without", "isn't", "不", "没"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a conversation.

    Attributes:
        text: The sentence.
        who: Label of the speaker, or empty.
        place: Its place among all sentences.
        words: Its content words, each once.
        weight: How much it looks like a fact worth keeping.
        message: Place of its message in the conversation.
        number: Number of its message, where the label told it.
    """

    text: str
    who: str
    place: int
    words: tuple[str, ...] = field(repr=False)
    weight: int
    message: int = 0
    number: int | None = None

    @property
    def quoted(self) -> str:
        """The sentence with its speaker before it."""
        return f"{self.who}: {self.text}" if self.who else self.text

    @property
    def noted(self) -> str:
        """The sentence as a note: with its speaker only where it says "I", "we" or "you", and its message's number."""
        text = self.quoted if _PERSONAL.search(self.text) else self.text
        return text if self.number is None else f"{text} [#{self.number}]"


def sentences_of(said: Iterable[Said]) -> list[Sentence]:
    """All sentences of a conversation in order, long ones shortened; what a tool said never looks like a fact."""
    found: list[Sentence] = []
    weights: dict[str, int] = {}
    for at, one in enumerate(said):
        for text in sentences(one.text):
            text = shortened(text, _LONGEST_CHARS)
            if text not in weights:
                weights[text] = 0 if one.who == "tool" else fact_weight(text)
            bare = bare_fact(text)
            words = tuple(dict.fromkeys(content_words(bare)))
            found.append(Sentence(bare, _LABELS[one.who], len(found), words, weights[text], at, one.number))
    return found


def quotation(line: str, place: int) -> Sentence:
    """A line of an earlier summary, as a sentence before all that was said since: its place is below zero."""
    who, _, text = line.partition(": ")
    who, text = (who, text) if who in _LABELS.values() else ("", line)
    words = tuple(dict.fromkeys(content_words(text)))
    return Sentence(text, who, place, words, _QUOTED_WEIGHT, message=place)


def different(found: Iterable[Sentence]) -> list[Sentence]:
    """The sentences without repeats; of equal ones the first stays."""
    first: dict[str, Sentence] = {}
    for one in found:
        first.setdefault(normal(one.text), one)
    return list(first.values())


class Seen:
    """Texts already there, to tell whether a further one says the same: mostly the same words, the same figures."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._words: list[frozenset[str]] = []
        self._by_word: dict[str, list[int]] = {}
        for text in texts:
            self.add(content_words(bare_fact(text)))

    def add(self, words: Iterable[str]) -> None:
        """Adds a text by its content words."""
        unique = frozenset(words)
        for word in unique:
            self._by_word.setdefault(word, []).append(len(self._words))
        self._words.append(unique)

    def has(self, words: Sequence[str]) -> bool:
        """Whether a text of these content words is there already.

        A text that shares the least part of all words shares one of the rarest few; so only texts with these are compared.
        """
        unique = frozenset(words)
        least = math.ceil(_SAME_SHARE * len(unique))
        rarest = sorted(unique, key=lambda word: len(self._by_word.get(word, ())))[: len(unique) - least + 1]
        near = {at for word in rarest for at in self._by_word.get(word, ())}
        return any(len(unique & self._words[at]) >= least and not _differs(unique, self._words[at]) for at in near)


def _differs(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a figure or a negation is only in ours: then it is another statement, however alike."""
    return any(word in _NEGATIONS or any(map(str.isdigit, word)) for word in ours - theirs)
