"""What makes a replay quick changes nothing: points that are passed over, and replies that are assumed at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_nb import presets
from harness_nb.agent.driver import Pass, manage
from harness_nb.core.config import ClearResultsConfig, TruncateArgsConfig
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Reply, assume
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.lab.transcripts import read_transcript
from tests.agent.driving import around, conversation
from tests.strategies import message_lists


class Asked(CompactionPolicy):
    """A policy that promises nothing, so that it is asked at every point; otherwise the one it wraps."""

    def __init__(self, policy: CompactionPolicy) -> None:
        self.name, self.passes, self.hooks = policy.name, policy.passes, policy.hooks
        self.policy = policy
        self.asked = 0

    def plan(self, view: View) -> Plan:
        self.asked += 1
        return self.policy.plan(view)


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("harness", {"trigger_messages": 9, "keep_messages": 3}),
    ("harness", {"trigger_messages": 0, "trigger_tokens": 700, "keep_messages": 3}),
    ("harness", {"trigger_messages": 0, "trigger_tokens": 0}),
    ("harness", {"trigger_messages": 12, "trigger_tokens": 900, "warn_at": 0.3, "keep_messages": 4}),
    ("harness", {"trigger_messages": 0, "trigger_tokens": 0, "truncate_args": TruncateArgsConfig(max_arg_length=20)}),
    ("harness", {"trigger_tokens": 800, "warn_at": 0.0, "clear_results": ClearResultsConfig(protect_tokens=50)}),
    ("personal", {}),
    ("eney", {}),
]


def billed(messages: list[Message], bills: list[int]) -> Transcript:
    """A conversation whose answers have bills, some of which are of something else."""
    usages = iter(bills)
    return Transcript(
        replace(one, usage=Usage(size, 10)) if one.role == "assistant" and (size := next(usages, 0)) else one
        for one in messages
    )


def figures(run: Replay) -> list[Any]:
    return [
        run.records,
        [step.sent_tokens for step in run.steps],
        run.final.input[:],
        run.final.tokens,
        run.final.state,
    ]


@pytest.mark.parametrize(("name", "chosen"), SETTINGS)
@settings(max_examples=12, deadline=None)
@given(
    messages=message_lists(3, 9),
    bills=st.lists(st.integers(0, 1_500), max_size=20),
    window=st.sampled_from([900, 2_000, 8_000]),
)
def test_points_that_are_passed_over_would_have_changed_nothing(
    name: str, chosen: dict[str, Any], messages: list[Message], bills: list[int], window: int
) -> None:
    transcript, policy = billed(messages, bills), presets.get(name, **chosen).policy
    assert policy is not None
    everywhere = Asked(policy)
    assert figures(replay(transcript, policy, window=window, model=None)) == figures(
        replay(transcript, everywhere, window=window, model=None)
    )


def test_a_policy_is_not_asked_where_it_rests_and_its_reason_is_there_all_the_same() -> None:
    talk = Transcript(one for at in range(30) for one in (Message.user(f"q{at}"), Message.assistant(f"a{at}")))
    policy = presets.get("harness", trigger_messages=40).policy
    assert policy is not None
    asked = Asked(policy)
    asked.rests = policy.rests  # type: ignore[method-assign]  # promises again
    run = replay(talk, asked, model=None)
    made = asked.asked
    assert made < len(run.steps) / 2
    assert run.steps[5].reason == "below the trigger: 11 of 40 messages, 66 of 80,000 tokens"
    assert asked.asked == made + 1


@pytest.mark.parametrize("name", presets.names())
@pytest.mark.parametrize("guarded", [True, False])
def test_a_plan_on_assumptions_is_what_asking_for_each_assumed_reply_brings(name: str, guarded: bool) -> None:
    said = [one for at in range(24) for one in (Message.user(f"q{at} " + "word " * 90), Message.assistant("a " * 120))]
    policy = presets.get(name).policy
    assert policy is not None
    for hook in sorted(policy.hooks):
        one, other = (
            conversation([*said, Message.user("the latest")]),
            conversation([*said, Message.user("the latest")]),
        )
        at_once = _passes(manage(one, policy, hook, around(6_000), guarded=guarded, assumes=True))
        asked = _passes(manage(other, policy, hook, around(6_000), guarded=guarded))
        assert list(map(_what, at_once)) == list(map(_what, asked))
        assert (one.input, one.state, one.stall) == (other.input, other.state, other.stall)


def _passes(steps: Any) -> tuple[Pass, ...]:
    answer: Reply | None = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration as end:
            return tuple(end.value)
        answer = None if type(effect).__name__ in ("Begun", "Leaving") else assume(effect)


def _what(one: Pass) -> tuple[Any, ...]:
    plan = (one.plan.input, one.plan.state, one.plan.outcome, one.plan.reason, one.plan.pressure)
    return (*plan, one.outcome, one.reason, one.repairs, one.asked, one.tokens_before, one.tokens_after)


def test_on_a_recorded_session_nothing_is_changed_either(data: Path) -> None:
    transcript = read_transcript(data / "pi_sessions/large-session.jsonl")
    for name in ("harness", "eney"):
        policy = presets.get(name).policy
        assert policy is not None
        quick, thorough = (replay(transcript, one, window=60_000, model=None) for one in (policy, Asked(policy)))
        assert figures(quick) == figures(thorough)
        assert quick.compactions
