"""What is searched for: the words of a question as a query for SQLite, and single ones when that finds nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from harness_nb.core.keywords import keywords

MOST_FALLBACK_TERMS = 6

_SHORT_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u3131-\u3163]")
_TRIGRAM = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """A question as it is searched.

    Attributes:
        match: Query in the syntax of FTS5, or None when it has no word for it.
        substrings: Words that a chunk must hold as they are, as an index of trigrams can't find them.
    """

    match: str | None
    substrings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search."""
        return self.match is None and not self.substrings


def terms_of(question: str, tokenizer: str = "unicode61", join: str = "and") -> Terms:
    """The query for a question: each run of letters, digits and underscores quoted, stop words included.

    Args:
        question: What somebody asks.
        tokenizer: `unicode61` or `trigram`.
        join: `and` or `or`.
    """
    found = word_runs(question)
    short = tuple(word for word in found if tokenizer == "trigram" and _is_short(word))
    quoted = [f'"{word}"' for word in found if word not in short]
    return Terms(f" {join.upper()} ".join(quoted) or None, short)


def fallback_terms(question: str, tokenizer: str = "unicode61") -> list[str]:
    """Keywords that are searched one by one, six at most; the question itself is none."""
    found = keywords(question, whole_runs=tokenizer == "trigram")
    return [word for word in found if word != question][:MOST_FALLBACK_TERMS]


def word_runs(text: str) -> list[str]:
    """Runs of letters, digits and underscores."""
    return "".join(char if _is_word(char) else " " for char in text).split()


def _is_word(char: str) -> bool:
    return char == "_" or unicodedata.category(char)[0] in "LN"


def _is_short(word: str) -> bool:
    return len(word) < _TRIGRAM and _SHORT_EAST_ASIAN.search(word) is not None
