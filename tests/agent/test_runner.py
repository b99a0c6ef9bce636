"""The private loop, where it can't be started."""

from __future__ import annotations

import sys

import pytest

from harness_nb import HarnessError, Message, Transcript, replay
from harness_nb.agent.runner import Runner


async def work() -> int:
    return 1


def test_what_needs_a_thread_says_so_in_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(HarnessError, match=r"needs a thread.*\n.*model=None"):
        Runner().wait(work())


def test_a_replay_on_assumed_replies_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    said = [Message.user("Measure the next sample, please. " * 20), Message.assistant("Done. " * 60)]
    assert replay(Transcript(said * 30), window=8_000, model=None).totals.compactions > 0
