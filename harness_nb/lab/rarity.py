"""Words that tell one message of a conversation from the others: what is left of a message in a summary is told by them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set

from harness_nb.core.messages import Message

RARE = 0.1
"""A word is rare that at most this share of the messages has."""

_WORD = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


class RareWords:
    """The rare words of each message of a conversation, each weighing `log(messages / messages that have it)`.

    Args:
        messages: The conversation.
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self.words = [words_of(message.text) for message in messages]
        counts = Counter(word for one in self.words for word in one)
        most = RARE * len(self.words)
        self._of: dict[int, dict[str, float]] = {}
        self._weights = {word: math.log(len(self.words) / n) for word, n in counts.items() if n <= most}

    def weights(self, index: int) -> Mapping[str, float]:
        """The rare words of a message, with their weights."""
        if index not in self._of:
            self._of[index] = self._weighed(index)
        return self._of[index]

    def _weighed(self, index: int) -> dict[str, float]:
        return {word: self._weights[word] for word in self.words[index] if word in self._weights}

    def share(self, index: int, there: Set[str]) -> float:
        """Share of a message's rare words, by weight, among some words, 0 to 1; 1 for a message without any."""
        weights = self.weights(index)
        whole = math.fsum(weights.values())
        return math.fsum(worth for word, worth in weights.items() if word in there) / whole if whole else 1.0

    def told(self, index: int, there: Set[str]) -> float:
        """The same, but 0 for a message without rare words: there is nothing by which it could be told."""
        return self.share(index, there) if self.weights(index) else 0.0
