"""Whether standing instructions survive, on BEAM: `python tests/benchmarks/pins_beam.py`.

The folder of recorded conversations is named by HARNESS_NB_DATA. Each chat is fed in five parts; after each the list is
compacted to a tenth of what it was, without a model: the summaries are assumed texts that hold nothing. So what is in the
model input at the end is what was kept or pinned. The evidence of the questions on instruction-following is pinned by hand in
one run and by the rule in the other. Exits 1 when a figure is below its least.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import manage
from harness_nb.core.config import CompactionConfig
from harness_nb.core.instructions import standing_instructions
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.pins import Pin
from harness_nb.core.requests import Ask, assume
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.lab.datasets import Conversation as Dialogue
from harness_nb.lab.datasets import load
from harness_nb.policies.harness import HarnessPolicy

ROUNDS = 5
SHARE = 0.1
"""Part of its size to which each round compacts the list."""

MOST = 0.12
"""Part that may be left: the latest answer stays whole, be it longer or not."""

LEAST_BY_HAND, LEAST_BY_RULE = 100.0, 85.0
"""Percent of the evidence that is in the model input word for word, and that the rule finds."""

_SUMMARY_TOKENS = 700  # an assumed summary and the marks around it and around the pins
_NOON = datetime(2026, 4, 12, 12, tzinfo=UTC)
_BESIDE = Surroundings(model=ModelLimits(name="none", window=1_000_000))


@dataclass(frozen=True)
class Result:
    """What became of one chat.

    Attributes:
        evidence: Messages with a standing instruction, by the questions.
        verbatim: How many of them the model input holds word for word at the end.
        others: Further messages from which something was pinned.
        shares: What each round left of the list, as shares.
    """

    evidence: int
    verbatim: int
    others: int
    shares: tuple[float, ...]


def evidence_of(chat: Dialogue) -> frozenset[int]:
    """Indices of the messages that the questions on instruction-following rest on."""
    asked = (question for question in chat.questions if question.category == "instruction_following")
    return frozenset(index for question in asked for index in question.evidence)


def played(messages: tuple[Message, ...], pinned: dict[int, tuple[str, ...]]) -> tuple[str, tuple[float, ...]]:
    """The texts of the user's role at the end, and what each round left.

    Args:
        messages: The chat.
        pinned: What is pinned when a message is said, by its index.
    """
    talk = Conversation(Measure(CharsCounter()), lambda: _NOON)
    shares = []
    for round_ in range(ROUNDS):
        start, stop = (len(messages) * at // ROUNDS for at in (round_, round_ + 1))
        for message in messages[start:stop]:
            index = talk.begin_turn(message) if message.role == "user" else talk.add(message)
            new = tuple(Pin(text, "user", index) for text in pinned.get(index, ()))
            if new:
                talk.set_pins((*talk.pins, *new))
        shares.append(_compacted(talk))
    return "\n".join(item.message.text for item in talk.input if item.message.role == "user"), tuple(shares)


def _compacted(talk: Conversation) -> float:
    """Compacts to the share of the size that there was, and says what is left of it."""
    before = talk.view("manual", _BESIDE).tokens
    keep = max(1, int(before * SHARE) - _least(talk))
    steps = manage(talk, HarnessPolicy(CompactionConfig(keep_tokens=keep)), "manual", _BESIDE)
    answer = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration:
            return talk.view("manual", _BESIDE).tokens / before
        answer = assume(effect) if isinstance(effect, Ask) else None


def _least(talk: Conversation) -> int:
    """Tokens of what is there besides the kept end: the summary, the pins and the latest request."""
    latest = next((item.message for item in reversed(talk.input) if item.is_real_user), None)
    fixed = _SUMMARY_TOKENS + (talk.measure(latest) if latest is not None else 0)
    return fixed + sum(talk.measure.text(pin.text) for pin in talk.pins)


def result_of(chat: Dialogue, by_rule: bool) -> Result:
    """Plays one chat with its instructions pinned by hand, or by the rule."""
    messages = chat.transcript[:]
    evidence = evidence_of(chat)
    said = {at: (message.text,) for at, message in enumerate(messages) if at in evidence}
    found = {at: standing_instructions(m.text) for at, m in enumerate(messages) if m.role == "user"}
    pinned = {at: texts for at, texts in found.items() if texts} if by_rule else said
    text, shares = played(messages, pinned)
    kept = [at for at in evidence if all(one in text for one in pinned.get(at, ("\0",)))]
    return Result(len(evidence), len(kept), len(pinned.keys() - evidence), shares)


def main() -> int:
    """Prints both tables."""
    data = os.environ.get("HARNESS_NB_DATA")
    if not data:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")  # noqa: T201
        return 2
    chats = load(Path(data) / "beam_100k")
    ok = True
    for by_rule, least in ((False, LEAST_BY_HAND), (True, LEAST_BY_RULE)):
        results = [result_of(chat, by_rule) for chat in chats]
        print(f"\npinned by {'the rule' if by_rule else 'hand'}")  # noqa: T201
        for chat, one in zip(chats, results, strict=True):
            left = ", ".join(f"{share:.1%}" for share in one.shares)
            said = f"{one.verbatim} of {one.evidence} word for word, {one.others} other messages pinned; rounds left {left}"
            print(f"  chat {chat.name:>2}: {said}")  # noqa: T201
        share = 100 * sum(one.verbatim for one in results) / sum(one.evidence for one in results)
        others = sum(one.others for one in results)
        print(f"  all: {share:.1f} % word for word (least {least:g} %), {others} other messages pinned")  # noqa: T201
        ok = ok and share >= least and all(share <= MOST for one in results for share in one.shares)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
