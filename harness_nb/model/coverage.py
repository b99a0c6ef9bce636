"""Choosing sentences so that every message is represented: a cover of the rare words, greedily, by worth per character."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness_nb.model.cues import says_little
from harness_nb.model.statements import Seen, Sentence

BULLET_CHARS = 3
"""Characters of a line beside its text: the mark and the line feed."""

_SPEAKER_WORTH = {"User": 2.0}  # what an assistant said can often be worked out again from what it was told
_REPEATED = 0.1  # worth of a word that stands in the summary already; never nothing, so that all is kept where all fits
_FACT_WORTH = 0.1  # more for each point of a fact's weight
_LITTLE_WORTH = 0.1  # of a sentence that only introduces or greets
_FRAGMENT_WORTH, _FRAGMENT_WORDS = 0.25, 4  # of headings and the like
_LINE_CHARS = 15  # a line costs its reader more than its characters


def word_worth(found: Iterable[Sentence]) -> dict[str, float]:
    """What each word is worth: the sum, over the messages that have it, of its share in the message's rarity.

    A word's rarity is the logarithm of how many times more messages there are than messages that have it. All messages of
    a speaker weigh the same, the long as the short, and those of the user twice as much as others. So a summary whose
    words are worth most is the one that holds the largest share of the rare words of an average message.
    """
    messages: dict[int, set[str]] = {}
    weights: dict[int, float] = {}
    for one in found:
        messages.setdefault(one.message, set()).update(one.words)
        weights[one.message] = _SPEAKER_WORTH.get(one.who, 1.0)
    counts = Counter(word for words in messages.values() for word in words)
    rarity = {word: math.log((len(messages) + 1) / count) for word, count in counts.items()}
    worth: dict[str, float] = dict.fromkeys(counts, 0.0)
    for at, words in messages.items():
        whole = math.fsum(rarity[word] for word in words)
        for word in words:
            worth[word] += weights[at] * rarity[word] / whole
    return worth


def covering(
    candidates: Iterable[Sentence], worth: Mapping[str, float], most_chars: int, told: Sequence[Sentence] = ()
) -> list[Sentence]:
    """As many sentences as fit, each the best addition to those before it, without near repeats, in the order said.

    A sentence adds the worth of its words, much less for words that are there already. As that only falls while sentences
    are added, one whose last known addition is below another's present one need not be looked at.

    Args:
        candidates: Sentences to choose from.
        worth: What each word is worth.
        most_chars: Room for their lines in characters.
        told: Sentences that the reader sees anyway.
    """
    times = Counter(word for one in told for word in one.words)
    seen = Seen(one.text for one in told)
    rows = ((_quality(one) / (len(one.quoted) + _LINE_CHARS), one) for one in candidates)
    ahead = [(-_added(one, worth, times) * scale, one.place, scale, one) for scale, one in rows if scale]
    heapq.heapify(ahead)
    kept: list[Sentence] = []
    while ahead:
        _, place, scale, one = heapq.heappop(ahead)
        cost = len(one.quoted) + BULLET_CHARS
        if cost > most_chars:
            continue
        addition = -_added(one, worth, times) * scale
        if ahead and addition > ahead[0][0]:
            heapq.heappush(ahead, (addition, place, scale, one))
        elif not seen.has(one.words):
            seen.add(one.words)
            times.update(one.words)
            most_chars -= cost
            kept.append(one)
    return sorted(kept, key=lambda one: one.place)


def _added(one: Sentence, worth: Mapping[str, float], times: Mapping[str, int]) -> float:
    """What the words of a sentence would add."""
    return math.fsum(worth[word] * _REPEATED ** times.get(word, 0) for word in one.words)


def _quality(one: Sentence) -> float:
    """Factor on what a sentence adds; 0 for one that is never taken."""
    if len(one.words) < 2 and not one.weight:
        return 0.0
    quality = 1 + _FACT_WORTH * one.weight
    if says_little(one.text):
        quality *= _LITTLE_WORTH
    return quality * _FRAGMENT_WORTH if len(one.words) < _FRAGMENT_WORDS and not one.weight else quality
