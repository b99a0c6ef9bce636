"""Random histories: what a user does to an agent, and what its model and its policy do meanwhile.

    python -m tests.fuzz.histories 10000       plays as many against the loop, the driver and the guards

A history is plain data, so that hypothesis can make it smaller when it shows a fault.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from harness_nb import presets

BODIES = (
    "fit the model", "x" * 400, "{messages} {0}", "<|endoftext|>", "a\ud83db", "👩‍🔬 naïve", "数据已经整理好了",
    "line\r\nline", "</summary>", "</standing_instructions>", "long " * 300, "never do that " * 40,
    "paragraph " * 800, "章" * 3_000,
)  # fmt: skip
CHAT = (
    "answer", "long answer", "blank", "one call", "two calls", "calls of one id", "big result", "failing tool",
    "unknown tool", "torn arguments", "overflow", "server error", "connection breaks", "no stream", "interrupt",
    "interrupted tool", "cut", "rate limit",
)  # fmt: skip
ASKED = (
    "good", "blank", "think only", "huge", "closes its block", "json", "cut", "server error", "overflow", "stall",
    "rate limit", "quota", "not an error of ours", "interrupt",
)  # fmt: skip
CONFIGURED = ("few messages", "few tokens", "shares", "truncates", "keeps nothing")
CARELESS = ("careless", "restless", "wordy")
PRESETS = tuple(f"{name}:{variant}" for name in presets.names() for variant in (presets.get(name).variants or ("",)))


@dataclass(frozen=True, slots=True)
class Step:
    """What a user does: `say`, `compact`, `pin`, `unpin`, `plan`, `flush` or `reopen`.

    Attributes:
        kind: Which of these.
        body: Of what is said.
        replies: What the model does in that turn, request by request; after the last it answers.
        number: Which message is pinned.
    """

    kind: Literal["say", "compact", "pin", "unpin", "plan", "reopen"]
    body: int = 0
    replies: tuple[str, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class History:
    """A history.

    Attributes:
        policy: Name of a preset with its variant, of settings of our own, or of a careless policy.
        window: Context window in tokens.
        asked: What comes of a policy's model calls, again and again from the beginning.
        bills: Whether the model reports usage.
        seed: What a careless policy goes by.
        steps: What the user does.
    """

    policy: str
    window: int
    asked: tuple[str, ...]
    bills: bool
    seed: int
    steps: tuple[Step, ...]


_SAY = st.builds(
    Step, st.just("say"), st.integers(0, len(BODIES) - 1), st.lists(st.sampled_from(CHAT), max_size=5).map(tuple)
)
_REST = st.builds(
    Step, st.sampled_from(["compact", "pin", "unpin", "plan", "reopen"]), number=st.integers(0, 7)
)  # fmt: skip


def histories(policies: tuple[str, ...] = PRESETS + CONFIGURED + CARELESS * 3) -> st.SearchStrategy[History]:
    """Histories under policies of those names."""
    return st.builds(
        History,
        policy=st.sampled_from(policies),
        window=st.sampled_from([1_500, 3_000, 6_000, 12_000, 24_000, 48_000]),
        asked=st.lists(st.sampled_from(ASKED) | st.just("good"), min_size=1, max_size=4).map(tuple),
        bills=st.booleans(),
        seed=st.integers(0, 10**6),
        steps=st.lists(_SAY | _SAY | _SAY | _REST, min_size=4, max_size=30).map(tuple),
    )


def main(count: int) -> None:
    """Plays that many histories and says what came of them; the first that shows a fault is made small and raised."""
    from hypothesis import HealthCheck, given, settings

    from tests.fuzz.playing import play

    found: Counter[str] = Counter()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(histories())
    def run(history: History) -> None:
        found.update(play(history))

    begun = time.monotonic()
    run()
    print(f"{found['histories']:,} histories in {time.monotonic() - begun:.0f} s")
    for name, number in sorted(found.items()):
        print(f"{number:10,}  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
