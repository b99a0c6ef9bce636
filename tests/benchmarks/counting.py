"""What counting costs: `HARNESS_NB_DATA=… python tests/benchmarks/counting.py`. Exits 1 when a limit is passed.

A thousand messages of a recorded session are measured for the first time beside plain loops of tiktoken over the same
texts, in turns, and then again; the figures are medians of CPU time. The limit for the first time is the loop over
`encode`, the call that tiktoken's documentation shows. `encode_ordinary`, its fastest, stands beside it; neither is bounded
for texts without white space, as ours is.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import tiktoken

from harness_nb.core.messages import Message, Text, Thinking
from harness_nb.core.tokens import Measure, TokenCounter
from harness_nb.lab.transcripts import read_transcript
from harness_nb.model.tokenizer import TiktokenCounter

MESSAGES = 1_000
ROUNDS = 25
AGAIN_LIMIT_MS = 1.0


def texts_of(message: Message) -> Iterator[str]:
    """All that is counted of a message, figures for frames apart."""
    for part in message.parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, Thinking):
            yield part.text or part.raw
    for call in message.calls:
        yield from (call.name, call.arguments)
    if message.name:
        yield message.name


def milliseconds(act: Callable[[], object]) -> float:
    """CPU time of one call."""
    begin = time.process_time()
    act()
    return (time.process_time() - begin) * 1000


def measured(encoding: str, messages: list[Message]) -> list[float]:
    """Median times of both plain loops, of a first measure and of a second one; in each round with a new counter."""
    plain = tiktoken.get_encoding(encoding)
    texts = [text for message in messages for text in texts_of(message)]
    rows = []
    for _ in range(ROUNDS):
        measure = Measure(new_counter(encoding))
        acts: tuple[Callable[[], object], ...] = (
            lambda: sum(len(plain.encode(text)) for text in texts),
            lambda: sum(len(plain.encode_ordinary(text)) for text in texts),
            lambda measure=measure: measure.total(messages),
            lambda measure=measure: measure.total(messages),
        )
        rows.append([milliseconds(act) for act in acts])
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def new_counter(encoding: str) -> TokenCounter:
    """A counter that has counted nothing but one word, with which its vocabulary is loaded."""
    counter = TiktokenCounter(encoding)
    counter.count_text("word")
    return counter


def main() -> int:
    """Prints the table and says whether every limit was kept."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 1
    recorded = read_transcript(Path(folder) / "pi_sessions" / "before-compaction.jsonl")
    messages = [replace(message) for message in islice(cycle(recorded), MESSAGES)]
    chars = sum(len(text) for message in messages for text in texts_of(message))
    print(f"{len(messages):,} messages, {chars:,} characters; median of {ROUNDS}, CPU ms")
    print(f"{'':14} {'encode':>10} {'ordinary':>10} {'first':>10} {'again':>10}")
    kept = True
    for encoding in ("cl100k_base", "o200k_base"):
        new_counter(encoding)  # loads the vocabulary, which tiktoken by itself would download
        plain, ordinary, first, again = measured(encoding, messages)
        is_kept = first <= plain and again < AGAIN_LIMIT_MS
        kept = kept and is_kept
        print(
            f"{encoding:14} {plain:10.1f} {ordinary:10.1f} {first:10.1f} {again:10.2f}  {'ok' if is_kept else 'ABOVE THE LIMIT'}"
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
