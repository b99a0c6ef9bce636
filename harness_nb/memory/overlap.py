"""Whether texts say the same, by the words that carry them: a rule of thumb for reports, diffs and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from harness_nb.model.sentences import content_words, normal

_SHARE_SAID = 0.6  # of a fact's words that an entry must have to say it
_SHARE_ALIKE = 0.5  # of the words of both that two versions of one entry have in common
_NEGATION = re.compile(r"\b(?:not|never|no longer|without|cannot)\b|n['’]t\b|[不没無]", re.IGNORECASE)


class Words(NamedTuple):
    """What is compared of a text: its words, those of them with figures, whether it denies, and the text itself."""

    every: frozenset[str]
    figures: frozenset[str]
    denies: bool
    text: str


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The words of a text."""
    every = frozenset(content_words(text))
    figures = frozenset(word for word in every if any(map(str.isdigit, word)))
    return Words(every, figures, _NEGATION.search(text) is not None, normal(text))


def says(entry: str, fact: str) -> bool:
    """Whether an entry holds what a fact says: most of its words, all of its figures, and neither denies the other."""
    ours, theirs = words_of(fact), words_of(entry)
    if not ours.every:
        return ours.text in theirs.text
    share = len(ours.every & theirs.every) / len(ours.every)
    return share >= _SHARE_SAID and ours.figures <= theirs.figures and ours.denies == theirs.denies


def is_said(fact: str, entries: Iterable[str]) -> bool:
    """Whether any of the entries says a fact."""
    return any(says(entry, fact) for entry in entries)


def likeness(one: str, other: str) -> float:
    """How much two texts look like versions of one entry, 0 to 1; below one half counts as 0."""
    ours, theirs = words_of(one).every, words_of(other).every
    if not ours or not theirs:
        return float(normal(one) == normal(other))
    shared = len(ours & theirs) / len(ours | theirs)
    contained = len(ours & theirs) / min(len(ours), len(theirs))
    found = max(shared, contained * 0.9 if min(len(ours), len(theirs)) > 1 else 0.0)
    return found if found >= _SHARE_ALIKE else 0.0
