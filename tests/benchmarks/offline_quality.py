"""What the built-in model is good for: `HARNESS_NB_DATA=… python tests/benchmarks/offline_quality.py`.

*Summaries.* Each BEAM chat is summarised whole, through the request that the harness makes, at a twentieth of its size.
Graded survival is the mean, over the questions with evidence and the messages of each, of the share of a message's rare
words that stand in the text; a word is rare that at most one message in ten has, and weighs by the logarithm of how rare it
is. Beside it: the head and the tail of the chat, and random sentences and random lines of it, all of the same size.

*Consolidation.* LoCoMo's turns and observations and the facts in the BEAM chats are merged as daily logs are, batch after
batch. The duplicate rate is the share of entries whose runs of three words are to four fifths those of another entry.

Exits 1 when a summary is not above each of the others by the margin, takes too long, or a memory breaks the budget or holds
duplicates.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.prompts import summary_request
from harness_nb.lab.datasets import Conversation, Dataset, load
from harness_nb.lab.rarity import RareWords, words_of
from harness_nb.model.base import ModelRequest, complete
from harness_nb.model.merging import merged
from harness_nb.model.offline import OfflineModel
from harness_nb.model.sentences import sentences

SHARE = 0.05
SEEDS = 20
MARGIN = 0.1
MOST_SECONDS = 1.5
BUDGET_TOKENS = 4_000
BATCH = 200
NEAR = 0.8
_WORD = re.compile(r"\w+")


def text_of(chat: Conversation) -> str:
    """All of a chat."""
    return "\n\n".join(message.text for message in chat.transcript)


class Survival:
    """Graded survival of a chat's evidence."""

    def __init__(self, chat: Conversation) -> None:
        self._evidence = [question.evidence for question in chat.questions if question.evidence]
        self._rare = RareWords(chat.transcript)

    def __call__(self, text: str) -> float:
        """Survival in a text, 0 to 1."""
        there = words_of(text)
        return statistics.fmean(
            statistics.fmean(self._rare.share(place, there) for place in places) for places in self._evidence
        )


def summarised(chat: Conversation, tokens: int) -> tuple[str, float]:
    """The offline model's summary of a whole chat, and the CPU seconds that it took."""
    items = [Item(index, message) for index, message in enumerate(chat.transcript)]
    ask = summary_request(items, max_input_chars=10 * len(text_of(chat)))
    request = ModelRequest(messages=ask.messages, purpose=ask.purpose, max_tokens=tokens)
    begin = time.process_time()
    reply = asyncio.run(complete(OfflineModel(), request))
    return reply.text, time.process_time() - begin


def head_and_tail(text: str, chars: int) -> str:
    """The beginning and the end."""
    return f"{text[: chars // 2]}\n{text[-(chars // 2) :]}"


def random_part(pieces: Sequence[str], chars: int, seed: int) -> str:
    """Pieces in any order, as many as fit."""
    kept = []
    for piece in random.Random(seed).sample(pieces, len(pieces)):  # noqa: S311 - no secret
        if len(piece) < chars:
            kept.append(piece)
            chars -= len(piece) + 1
    return "\n".join(kept)


def summary_row(name: str, chat: Conversation) -> bool:
    """Prints the line of a chat and says whether it is as it should be."""
    survival = Survival(chat)
    whole = text_of(chat)
    tokens = int(SHARE * len(whole) / 4)
    text, seconds = summarised(chat, tokens)
    prose = [sentence for message in chat.transcript for sentence in sentences(message.text)]
    lines = [line.strip() for line in whole.splitlines() if line.strip()]
    others = [survival(head_and_tail(whole, 4 * tokens))]
    for pieces in (prose, lines):
        others.append(statistics.fmean(survival(random_part(pieces, 4 * tokens, seed)) for seed in range(SEEDS)))
    ours = survival(text)
    is_good = ours >= max(others) + MARGIN and seconds <= MOST_SECONDS and len(text) <= 4 * tokens
    figures = "".join(f"{figure:14.1%}" for figure in (ours, *others))
    print(
        f"BEAM {name:<5} {len(text):8,}{figures} {seconds:9.2f}  {'ok' if is_good else 'NOT AS IT SHOULD BE'}",
        flush=True,
    )
    return is_good


def logs(folder: Path, chats: Dataset) -> Iterator[tuple[str, list[str]]]:
    """Notes as a daily log would hold them, under a name."""
    for talk in json.loads((folder / "locomo" / "locomo10.json").read_text(encoding="utf-8")):
        sessions = [said for said in talk["conversation"].values() if isinstance(said, list)]
        name = talk["sample_id"]
        yield f"{name} turns", [f"{turn['speaker']}: {turn['text']}" for said in sessions for turn in said]
        seen = [facts for found in talk["observation"].values() for facts in found.values()]
        yield f"{name} facts", [fact[0] for facts in seen for fact in facts]
    for chat in chats:
        yield f"BEAM {chat.name} facts", flushed(chat)


def flushed(chat: Conversation) -> list[str]:
    """The facts that the offline model finds in a chat, ten messages at a time."""
    found: list[str] = []
    for start in range(0, len(chat.transcript), 10):
        part = list(enumerate(chat.transcript))[start : start + 10]
        talk = "\n".join(f"[{message.role.upper()} #{index}] {message.text}" for index, message in part)
        asked = Message.user(f"<conversation>\n{talk}\n</conversation>")
        reply = asyncio.run(complete(OfflineModel(), ModelRequest(messages=(asked,), purpose="flush")))
        found += [line.removeprefix("- ") for line in reply.text.splitlines() if line.startswith("- ")]
    return found


def runs(entry: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of an entry."""
    words = _WORD.findall(entry.casefold())
    return frozenset(tuple(words[at : at + 3]) for at in range(max(len(words) - 2, 1)))


def duplicate_rate(entries: Sequence[str]) -> float:
    """Share of entries that are nearly another one."""
    found = [runs(entry) for entry in entries]
    by_run: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(found):
        for run in one:
            by_run.setdefault(run, []).append(place)

    def is_double(place: int) -> bool:
        shared = Counter(other for run in found[place] for other in by_run[run] if other != place)
        return any(n >= NEAR * (len(found[place]) + len(found[other]) - n) for other, n in shared.items())

    return sum(map(is_double, range(len(found)))) / max(len(found), 1)


def consolidated(notes: Iterable[str], budget_tokens: int) -> str:
    """The memory after all batches."""
    lines = [f"- {' '.join(note.split())}" for note in notes]
    memory = ""
    for start in range(0, len(lines), BATCH):
        memory = merged(memory, "\n".join(lines[start : start + BATCH]), budget_tokens)
    return memory


def consolidation_row(name: str, notes: Sequence[str]) -> bool:
    """Prints the line of a log and says whether it is as it should be."""
    begin = time.process_time()
    memories = [consolidated(notes, budget) for budget in (BUDGET_TOKENS, 1_000_000)]
    seconds = time.process_time() - begin
    kept, whole = ([line for line in memory.splitlines() if line.startswith("- ")] for memory in memories)
    doubles = max(duplicate_rate(kept), duplicate_rate(whole))
    is_good = len(memories[0]) <= 4 * BUDGET_TOKENS and doubles == 0
    print(
        f"{name:<14} {len(notes):6} {duplicate_rate(notes):8.1%} {len(whole):8} {len(kept):8} {len(memories[0]) / 4:8,.0f}"
        f" {doubles:8.1%} {seconds:8.2f}  {'ok' if is_good else 'NOT AS IT SHOULD BE'}",
        flush=True,
    )
    return is_good


def main() -> int:
    """Prints both tables and says whether all is as it should be."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 1
    print(f"graded survival at {SHARE:.0%} of the characters; random: mean of {SEEDS} seeds")
    names = ("offline", "head and tail", "any sentences", "any lines")
    print(f"{'':10} {'chars':>8}{''.join(f'{name:>14}' for name in names)} {'CPU s':>9}")
    chats = load(Path(folder) / "beam_100k")
    good = [summary_row(chat.name, chat) for chat in chats]
    print(f"\nconsolidation to {BUDGET_TOKENS:,} tokens in batches of {BATCH}; whole: without a limit")
    print(f"{'':14} {'notes':>6} {'doubles':>8} {'whole':>8} {'kept':>8} {'tokens':>8} {'doubles':>8} {'CPU s':>8}")
    good += [consolidation_row(name, notes) for name, notes in logs(Path(folder), chats)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
