"""The F1 of an answer by LoCoMo's rules, and whether an answer declines.

Text is put in lower case; punctuation, articles and "and" are dropped; words are stemmed by Porter's rules; F1 is that of
the words, each as often as it stands. By category: of a multi-hop question both texts are divided at commas, and the
figure is the mean over gold parts of the best F1; of an open-domain question the first alternative before a semicolon
counts; an adversarial one is right when the answer declines.
"""

from __future__ import annotations

import re
import statistics
import string
from collections import Counter

from harness_nb.lab.datasets.record import Question
from harness_nb.store.stem import stem

DECLINES = "The conversation does not say."
"""What a model is asked to say where the answer is not there."""

_DROPPED = frozenset({"a", "an", "the", "and"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TOLD = (
    r"say|said|stated?|mention(?:ed)?|contain|provided?|specif(?:y|ied)|given?|known?|determined?|found|find|tell|told"
    r"|recorded|available|discuss(?:ed)?"
)
_DECLINING = re.compile(
    rf"\b(?:not|never|cannot|can['’]?t|\w{{2,}}n['’]?t) (?:\w+ ){{0,2}}?(?:{_TOLD})\b"
    r"|\bno (?:\w+ ){0,2}?(?:information|mention|record|evidence|details?)\b"
    r"|\b(?:unknown|unanswerable)\b",
    re.IGNORECASE,
)


def declines(answer: str) -> bool:
    """Whether an answer says, in usual words, that the conversation does not hold what was asked for.

    A rule on words: an answer that reports somebody else's not knowing is taken for one, too.
    """
    return _DECLINING.search(answer) is not None


def answer_f1(question: Question, answer: str) -> float:
    """How near an answer is to the gold one, 0 to 1.

    Args:
        question: With its gold answer and category.
        answer: What was answered.
    """
    if not question.is_answerable:
        return float(declines(answer))
    gold = question.answer
    if question.category == "open-domain":
        return token_f1(answer, gold.split(";")[0])
    if question.category == "multi-hop":
        parts = [part for part in answer.split(",") if part.strip()] or [""]
        return statistics.fmean(max(token_f1(part, one) for part in parts) for one in gold.split(","))
    return token_f1(answer, gold)


def token_f1(answer: str, gold: str) -> float:
    """F1 of the stemmed words of two texts; 0 when they share none."""
    given, wanted = Counter(_words(answer)), Counter(_words(gold))
    shared = (given & wanted).total()
    return 2 * shared / (given.total() + wanted.total()) if shared else 0.0


def _words(text: str) -> list[str]:
    words = text.lower().translate(_NO_PUNCTUATION).split()
    return [stem(word) for word in words if word not in _DROPPED]
