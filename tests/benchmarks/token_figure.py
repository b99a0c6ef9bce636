"""How near the token figure is to the bill: `HARNESS_NB_DATA=… python tests/benchmarks/token_figure.py`.

Two recorded sessions whose every call was billed are fed to a conversation message by message. Before each reply the
figure, the last bill plus an estimate of what came after, stands beside what the provider then billed. Exits 1 when a
session's figures are in total further from its bills than the limit. A call right after the recorded system compacted its
list is left out, as it was billed for a list that the recording does not hold.

Below stands what a bare estimate gives, as before a first bill: of the recorded messages alone, and so without the system
prompt and the schemas, which are not recorded.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.limits import ModelLimits
from harness_nb.core.tokens import CharsCounter, Measure, TokenCounter
from harness_nb.lab.transcripts import read_with_report
from harness_nb.model.tokenizer import counter_for

SESSIONS = ("before-compaction", "large-session")
LIMIT = 0.01
START = datetime(1970, 1, 1, tzinfo=UTC)


class Call(NamedTuple):
    """One billed call, in tokens."""

    bill: int
    figure: int
    bare: int | None
    is_from_bill: bool


@dataclass(frozen=True)
class Course:
    """The calls of a session under one counter."""

    session: str
    counter: str
    calls: Sequence[Call]

    @property
    def billed(self) -> list[Call]:
        """The calls before which a bill was known."""
        return [call for call in self.calls if call.is_from_bill]

    @property
    def off(self) -> float:
        """How far all figures are from all bills, as a part of these."""
        return sum(call.figure for call in self.billed) / sum(call.bill for call in self.billed) - 1

    @property
    def bias(self) -> float:
        """The same of bare estimates of the messages, while nothing was compacted."""
        whole = [(call.bare, call.bill) for call in self.calls if call.bare is not None]
        return sum(bare for bare, _ in whole) / sum(bill for _, bill in whole) - 1

    def __str__(self) -> str:
        each = sorted(call.figure / call.bill - 1 for call in self.billed)
        apart = sorted(map(abs, each))
        low, high = each[len(each) // 20], each[-1 - len(each) // 20]
        verdict = "ok" if abs(self.off) <= LIMIT else "ABOVE THE LIMIT"
        return (
            f"{self.session:<18} {self.counter:<22} {len(each):5} {self.off:+8.2%} {statistics.mean(apart):8.2%}"
            f" {apart[int(len(apart) * 0.95)]:8.2%} {low:+8.2%} {high:+8.2%} {self.bias:+9.1%}  {verdict}"
        )


def calls(path: Path, counter: TokenCounter) -> Iterator[Call]:
    """Feeds a session to a conversation; gives each billed call but those right after a recorded compaction."""
    transcript, report = read_with_report(path)
    marks = [mark.index for mark in report.compactions]
    around = Surroundings(model=ModelLimits(name=report.model or "unknown"))
    conversation = Conversation(Measure(counter), lambda: START)
    compacted = 0
    for index, message in enumerate(transcript):
        if message.role != "assistant":
            conversation.add(message)
            continue
        if message.usage is not None:
            view = conversation.view("request", around)
            bare = replace(view, usage=None, billed=0, carried=0, scale=1.0).tokens
            before = compacted
            compacted = sum(mark <= index for mark in marks)
            if compacted == before:
                is_from_bill = view.figure.billed > 0
                yield Call(message.usage.input_tokens, view.tokens, None if compacted else bare, is_from_bill)
        conversation.add_reply(message)


def main() -> int:
    """Prints the table and says whether each session is within the limit."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 1
    print(
        f"{'':18} {'estimate':<22} {'':5} {'in total':>8} {'a call':>8} {'95 %':>8} {'from':>8} {'to':>8} {'bare':>9}"
    )
    courses = []
    for session in SESSIONS:
        path = Path(folder) / "pi_sessions" / f"{session}.jsonl"
        for counter in (CharsCounter(), counter_for("anthropic/claude"), counter_for("gpt-4o")):
            courses.append(Course(session, counter.name, list(calls(path, counter))))
            print(courses[-1], flush=True)
    return 0 if all(abs(course.off) <= LIMIT for course in courses) else 1


if __name__ == "__main__":
    sys.exit(main())
