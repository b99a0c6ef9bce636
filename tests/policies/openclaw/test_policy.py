from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Image, Message, Text, Usage
from harness_nb.core.requests import Failure
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.lab.conformance.driving import conversation
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.policy import OpenClawPolicy
from tests.policies.openclaw.talks import GOOD, act, called, chat, filled, result, shown, steps

BROKEN = Failure("error", "no")
PICTURE = Image("data:x", '{"type":"image_url","image_url":{"url":"data:x"}}')


def policy(**settings: object) -> OpenClawPolicy:
    return OpenClawPolicy(OpenClawConfig(**settings))  # type: ignore[arg-type]


# The points of the loop


def test_a_turn_begins_with_a_compaction_at_the_threshold() -> None:
    talk, passes, _ = act(policy(), [*chat(20, 1_000), Message.user("now")], "turn", turn=40)
    assert shown(talk) == ["S", *range(20, 41)] and passes[0].plan.outcome == "compressed"
    talk, passes, _ = act(policy(), [*chat(19, 1_000), Message.user("now")], "turn", turn=38)
    assert not passes and len(talk.input) == 39


def test_without_preflight_a_turn_just_begins() -> None:
    assert not act(policy(preflight=False), [*chat(30, 1_000), Message.user("now")], "turn", turn=60)[1]


def test_the_last_bill_counts_at_the_start_of_a_turn() -> None:
    held = conversation([*chat(22, 1_000), Message.user("now")])
    held.usage, held.billed = Usage(30_000), 44
    assert not act(policy(), (), "turn", talk=held, turn=44)[1]


def test_a_request_that_would_be_too_long_is_compacted_first() -> None:
    talk, passes, _ = act(policy(), [*chat(20, 1_000), Message.user("now")], "request", turn=40)
    assert shown(talk) == ["S", *range(20, 41)] and [one.outcome for one in passes] == ["completed"]


def test_results_that_are_too_long_together_are_shortened_after_the_compaction() -> None:
    talk, _, _ = act(policy(), [*steps(10, 2_400), Message.user("now")], "request", window=32_000, turn=21)
    first = next(item for item in talk.input if item.message.role == "tool")
    assert talk.input[0].index is None and first.how in ("truncated", "cleared")


def test_one_request_leaves_old_pictures_out_and_the_session_keeps_them() -> None:
    pictures = [one for at in range(5) for one in (Message.user([Text(f"t{at}"), PICTURE]), Message.assistant("a"))]
    talk, passes, _ = act(policy(), [*pictures, Message.user("now")], "request", turn=10)
    assert [item.how for item in talk.outgoing[:3]] == ["cleared", "kept", "cleared"]
    assert all(item.how == "kept" for item in talk.input) and passes[0].plan.lasts == "request"


def test_old_results_leave_a_request_after_an_idle_gap_only() -> None:
    loop = [*steps(4, 5_000), *(Message.assistant("a") for _ in range(3)), Message.user("now")]
    chosen = policy(pruning=True, cap_requests=False, precheck=False, loop_guard=False)
    held = conversation(loop, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    act(chosen, (), "request", talk=held, turn=11)
    assert held.next_input is None
    held.now = lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=6)
    act(chosen, (), "request", talk=held, turn=11)
    assert held.next_input is not None and held.next_input[2].how == "truncated"


def test_a_result_is_capped_as_soon_as_it_is_there() -> None:
    talk, passes, _ = act(policy(), [Message.user("go"), called("c"), result("c", 9_000)], "result", turn=0)
    assert talk.input[2].how == "truncated" and len(talk.input[2].message.text) <= 16_000
    assert not act(policy(), (), "result", talk=talk, turn=0)[1]


def test_default_mode_looks_at_the_bill_of_an_answer() -> None:
    chosen = policy(mode="default")
    said = [*chat(30, 1_000)[:-1], Message.assistant(filled("a", 1_000), usage=Usage(44_000, 1))]
    talk, _, asked = act(chosen, said, "end", "new summary")
    assert shown(talk)[0] == "S" and len(asked) == 1
    said[-1] = replace(said[-1], usage=Usage(43_000, 1_000))
    assert not act(chosen, said, "end")[1]
    assert not act(policy(), said, "end")[1]


def test_an_overflow_shortens_results_where_compacting_brings_nothing() -> None:
    talk, _, _ = act(policy(whole_branch=False), [*steps(1, 19_000), Message.assistant("a")], "overflow")
    assert [item.how for item in talk.input] == ["kept", "kept", "truncated", "kept"]


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({}, ["S"]),
        ({"keep_recent_tokens": 8_000}, ["S", *range(52, 60)]),
        ({"manual_keeps_tail": True}, ["S", *range(40, 60)]),
    ],
)
def test_by_hand_the_kept_end_is_dropped_unless_it_is_asked_for(
    settings: dict[str, object], left: list[object]
) -> None:
    talk, _, _ = act(policy(**settings), chat(30, 1_000), "manual", window=128_000)
    assert shown(talk) == left


# What is not compacted


def test_nothing_happens_right_after_a_compaction() -> None:
    talk, _, _ = act(policy(), chat(20, 1_000), "overflow")
    _, passes, asked = act(policy(), (), "overflow", talk=talk)
    assert passes[0].plan.outcome == "already_compacted" and not asked


def test_a_session_of_heartbeats_is_left_alone() -> None:
    said = [Message.assistant("HEARTBEAT_OK"), Message.assistant("NO_REPLY")]
    assert act(policy(), said, "overflow")[1][0].plan.outcome == "no_real_conversation"


def test_with_nothing_before_the_cut_the_whole_session_is_summarised_or_left() -> None:
    talk, _, asked = act(policy(), chat(2, 100), "overflow")
    assert shown(talk) == ["S", 0, 1, 2, 3] and not asked
    assert act(policy(whole_branch=False), chat(2, 100), "overflow")[1][0].plan.outcome == "nothing_before_the_cut"


def test_a_failed_call_ends_a_pass_in_default_mode() -> None:
    talk, passes, _ = act(policy(mode="default"), chat(20, 1_000), "overflow", BROKEN)
    assert passes[0].plan.outcome == "summariser_failed" and len(talk.input) == 40


def test_a_summary_that_fails_the_audit_is_taken_unless_that_is_off() -> None:
    talk, _, asked = act(policy(), chat(20, 1_000), "overflow", "no headings")
    assert talk.input[0].meta["faults"] and OpenClawPolicy.retries(asked[-1])
    _, passes, _ = act(policy(accept_failed_audit=False), chat(20, 1_000), "overflow", "no headings")
    assert passes[0].plan.outcome == "audit_failed"


def test_excerpts_may_be_shown_to_the_model() -> None:
    _, _, hidden = act(policy(), chat(20, 1_000), "overflow")
    _, _, told = act(policy(excerpts_shown=True), chat(20, 1_000), "overflow")
    assert (hidden[-1].shown[-1], told[-1].shown[-1]) == (13, 19)


def test_file_lists_are_carried_on_where_that_is_on() -> None:
    first = [*chat(1, 10), called("a", "old.ts"), result("a", 10), *chat(20, 1_000)]
    for merges, found in ((False, []), (True, ["old.ts"])):
        talk, _, _ = act(policy(merge_file_lists=merges), first, "overflow")
        for one in chat(20, 1_000):
            talk.add(one)
        act(policy(merge_file_lists=merges), (), "overflow", talk=talk)
        assert talk.input[0].meta["files"] == {"read": found, "modified": []}


def test_a_preview_is_complete_and_asks_nobody() -> None:
    view = View.of(Transcript(chat(20, 1_000)), hook="overflow", model=ModelLimits(name="m", window=64_000))
    plan = policy().plan(view)
    assert (
        plan.input is not None
        and plan.input[0].assumed
        and [one.index for one in plan.input[1:]] == list(range(20, 40))
    )


def test_a_long_conversation_is_looked_at_in_a_moment() -> None:
    view = View.of(
        Transcript([*(one for _ in range(10) for one in steps(50, 40)), Message.user("now")]),
        model=ModelLimits(name="m", window=10**6),
        turn=1_010,
    )
    policy().plan(view)
    begun = time.perf_counter()
    policy().plan(view)
    assert time.perf_counter() - begun < 0.1


# What the guards prevent, live


def test_live_a_makeshift_summary_replaces_nothing() -> None:
    talk, passes, _ = act(policy(), [*chat(20, 1_000), Message.user("now")], "turn", BROKEN, guarded=True, turn=40)
    assert passes[0].outcome == "failed" and len(talk.input) == 41
    talk, _, _ = act(policy(), [*chat(20, 1_000), Message.user("now")], "turn", BROKEN, turn=40)
    assert shown(talk)[0] == "S"


def test_live_a_summary_of_what_stays_anyway_is_refused() -> None:
    talk, passes, _ = act(policy(), chat(2, 100), "overflow", guarded=True)
    assert "inflated" in passes[0].reason and shown(talk) == [0, 1, 2, 3]


def test_live_a_compaction_by_hand_keeps_the_latest_request() -> None:
    talk, _, _ = act(policy(), chat(30, 1_000), "manual", window=128_000, guarded=True)
    assert 58 in shown(talk) and shown(talk)[0] == "S"


def test_live_the_running_loop_stays_whole() -> None:
    said = [*chat(5, 1_000), *steps(1, 9_000)]
    talk, _, _ = act(policy(keep_recent_tokens=1_000), said, "overflow", GOOD, guarded=True, turn=10)
    messages = [item.message for item in talk.outgoing]
    assert problems(messages) == () and {10, 11, 12} <= {item.index for item in talk.outgoing}
