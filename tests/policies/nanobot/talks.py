"""Conversations and views for the tests of Nanobot's policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Reply, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.policy import NanobotPolicy

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)
HEAD = {
    "replay_max_messages": 0,
    "replay_min_messages": 8,
    "session_file_cap": 0,
    "request_form": "prefix",
    "strict_replies": True,
    "idle_drops": False,
}


def policy(**settings: Any) -> NanobotPolicy:
    """A policy that counts bytes, with small reserves."""
    return NanobotPolicy(NanobotConfig(**{"max_output_tokens": 1_000, "estimator": "utf8_bytes", **settings}))


def chat(turns: int, chars: int) -> list[Message]:
    """So many turns of two messages of that length."""
    said = []
    for turn in range(turns):
        said += [
            Message.user(f"u{turn} ".ljust(chars, "u"), time=NOW),
            Message.assistant(f"a{turn} ".ljust(chars, "a"), time=NOW),
        ]
    return said


def calls(name: str, *results: str, at: int = 0) -> list[Message]:
    """Rounds of one call each."""
    made = []
    for number, result in enumerate(results, at):
        made += [
            Message.assistant(None, [ToolCall(f"c{number}", name)]),
            Message.tool(f"c{number}", result, name=name),
        ]
    return made


def view_of(stored: list[Message], window: int, *, new: str = "now this", **fields: Any) -> View:
    """A view at the start of a turn."""
    log = Transcript([*stored, Message.user(new, time=NOW)])
    given = {"hook": "turn", "now": NOW, "turn": len(stored), "model": ModelLimits(name="m", window=window)}
    return View.of(log, **{**given, **fields})


def answered(policy: NanobotPolicy, view: View, reply: Reply) -> tuple[Plan, list[Ask]]:
    """The plan once every model call got that reply, and the calls."""
    asked: list[Ask] = []
    view = replace(view, strict=True)
    while True:
        try:
            return policy.plan(view), asked
        except Unknown as signal:
            assert isinstance(signal.request, Ask)
            asked.append(signal.request)
            view = view.learn(signal.request, reply)
