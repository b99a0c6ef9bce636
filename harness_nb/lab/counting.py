"""Counting for replays: each message once for all replays of a transcript, and what is assumed of a model once."""

from __future__ import annotations

import functools

from harness_nb.core.tokens import CharsCounter, Measure, TokenCounter
from harness_nb.core.transcript import Transcript
from harness_nb.model.tokenizer import counter_for

_REPEATED_CHARS, _MOST_KNOWN = 4_000, 256
"""Texts up to that length are looked for among the last so many: assumed replies are all the same."""


class RepeatedTexts:
    """A counter that counts a text that comes again as another one counts it, without counting it again.

    Args:
        counter: Counts.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known = functools.lru_cache(maxsize=_MOST_KNOWN)(counter.count_text)

    def __reduce__(self) -> tuple[type[RepeatedTexts], tuple[TokenCounter]]:
        """The counter alone."""
        return RepeatedTexts, (self._counter,)

    @property
    def name(self) -> str:
        """How it counts."""
        return self._counter.name

    def count_text(self, text: str) -> int:
        """Tokens of a text."""
        return self._known(text) if len(text) <= _REPEATED_CHARS else self._counter.count_text(text)


def measure_for(transcript: Transcript) -> Measure:
    """The measure by which a transcript is replayed: that of an agent with its model.

    Shared between replays, it counts each message once.
    """
    model = transcript.model or "unknown"
    return Measure(CharsCounter() if model == "offline" else RepeatedTexts(counter_for(model)))
