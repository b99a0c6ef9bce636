from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness_nb.agent import guards
from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.core.view import View
from harness_nb.policies.picoclaw.config import LegacyConfig, SeahorseConfig
from harness_nb.policies.picoclaw.legacy import LegacyPolicy
from harness_nb.policies.picoclaw.seahorse import SeahorsePolicy
from tests.policies.picoclaw.talks import call, chat, grown, indices, loop, planned, result, view_of
from tests.strategies import transcripts

POLICY = LegacyPolicy(LegacyConfig(max_tokens=100))
SMALL_LEGACY = LegacyPolicy(LegacyConfig(summarize_message_threshold=2, keep_last=1, split_above=2))
SMALL_SEAHORSE = SeahorsePolicy(SeahorseConfig(fresh_tail=1, leaf_min=1, leaf_chunk_tokens=50))


def asking(messages: list[Message], window: int, **fields: Any) -> View:
    return view_of(messages, window, hook="request", fixed_tokens=0, **fields)


def test_a_request_that_fits_is_sent_as_it_is() -> None:
    assert not planned(POLICY, asking(chat(4), 1_000))[0].changes


def test_before_a_turn_that_does_not_fit_half_of_the_turns_are_dropped_and_then_as_many_as_it_takes() -> None:
    view = asking([*chat(8, 200), Message.user("now")], 500)
    first, _ = planned(POLICY, view)
    assert first.again and first.input is not None
    assert indices(first.input) == [None, *range(8, 17)]
    after = grown(view, first, done=(first,))
    second, _ = planned(POLICY, after)
    assert second.lasts == "request" and second.input is not None
    assert indices(second.input) == [None, 14, 15, 16]
    assert POLICY.fits(after, second.input)


def test_in_the_middle_of_a_turn_old_turns_are_left_out_for_the_request_only() -> None:
    view = asking([*chat(3, 200), Message.user("now"), call("c"), result("c", "r" * 200)], 400)
    plan, _ = planned(POLICY, view)
    assert plan.lasts == "request" and plan.input is not None
    assert indices(plan.input) == [4, 5, 6, 7, 8]


def test_the_turn_in_progress_is_never_left_out() -> None:
    plan, _ = planned(POLICY, asking([*chat(2), Message.user("x" * 4_000), call("c"), result("c")], 300))
    assert plan.input is not None and indices(plan.input) == [4, 5, 6]
    assert "does not fit" in plan.reason


def test_after_an_overflow_half_of_the_turns_go_whatever_the_estimate_says() -> None:
    view = view_of([*chat(4), Message.user("now")], hook="overflow", fixed_tokens=0)
    first, _ = planned(POLICY, view)
    assert first.again and indices(first.items(view)) == [None, 4, 5, 6, 7, 8]
    assert not planned(POLICY, grown(view, first, done=(first,)))[0].changes


def test_the_clean_up_says_what_it_did() -> None:
    broken = view_of([*loop(2), call("x")])
    assert (POLICY.clean(broken).outcome, POLICY.clean(view_of(loop(2))).outcome) == ("repaired", "noop")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_conversation_gives_the_same_plan_twice_and_under_guards_a_list_that_providers_take(
    data: st.DataObject,
) -> None:
    messages = data.draw(transcripts())
    hook = data.draw(st.sampled_from(["request", "manual", "overflow", "end"]))
    acting = data.draw(st.sampled_from([SMALL_LEGACY, SMALL_SEAHORSE]))
    view = view_of(list(messages), data.draw(st.sampled_from([50, 400, 10_000])), hook=hook)
    plan = acting.plan(view)
    assert acting.plan(view) == plan
    verdict = guards.after(view, plan)
    if verdict.plan.changes:
        new = [
            item.message for item in verdict.plan.items(view) if item.message.role != "system"
        ]  # joined to the prompt
        assert problems(new, needs_reply=False) == ()
