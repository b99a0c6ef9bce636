from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Image, Message, Usage
from harness_nb.core.requests import Count, Evict, Failure, Reply
from harness_nb.core.view import View
from harness_nb.errors import BudgetError, ModelError
from harness_nb.policies.gemini_cli.outputs import MASK_TAG
from harness_nb.policies.gemini_cli.record import GeminiCliRecord
from harness_nb.policies.gemini_cli.request import ACKNOWLEDGEMENT, SNAPSHOT_TAG
from tests.policies.gemini_cli.talks import (
    answer,
    asks,
    call,
    indices,
    pairs,
    planned,
    policy,
    result,
    steps,
    view_of,
)
from tests.strategies import transcripts

DRAFT, SNAPSHOT = f"{SNAPSHOT_TAG}draft</state_snapshot>", f"{SNAPSHOT_TAG}checked</state_snapshot>"
LATCHED = GeminiCliRecord(latched=True)


def at_request(messages: list[Message], *, count: int, window: int = 10_000, **fields: Any) -> View:
    """A view before a request, with what the provider reported of the last prompt."""
    view = view_of([*messages, Message.user("go on")], window=window, **{"hook": "request"} | fields)
    return replace(view, usage=Usage(input_tokens=count), billed=len(messages))


# When it acts


@pytest.mark.parametrize(("count", "acts"), [(4_999, False), (5_000, True)])
def test_it_acts_at_half_of_the_window_by_the_reported_count(count: int, acts: bool) -> None:
    plan, _ = planned(policy(), at_request(pairs(10), count=count), DRAFT, SNAPSHOT)
    assert plan.changes is acts
    trigger = (plan.pressure or view_of([]).pressure()).triggers[0]
    assert (trigger.value, trigger.threshold, trigger.fired) == (count, 5_000, acts)


def test_the_float_product_decides_and_not_its_rounding() -> None:
    view = at_request(pairs(10), count=55_000, window=100_000)
    assert not planned(policy(compression_threshold=0.55), view)[0].changes


def test_without_a_report_of_this_list_an_estimate_of_the_history_counts() -> None:
    view = view_of([*pairs(10, chars=400), Message.user("x" * 40_000)], window=4_000, hook="request")
    assert policy().look(view).count == 2_000
    changed = replace(view, usage=Usage(input_tokens=9), billed=3, carried=-5)
    assert policy().look(changed).count == 2_000
    with_blank = view_of([Message.user("xxxx"), answer(""), Message.user("go")], hook="request")
    assert policy().look(with_blank).count == 1


def test_a_user_can_ask_for_it_at_any_size() -> None:
    plan, requests = planned(policy(), view_of(pairs(10)), DRAFT, SNAPSHOT)
    assert plan.outcome == "compressed" and len(asks(requests)) == 2


# What it makes


def test_a_checked_snapshot_and_a_fixed_answer_stand_for_what_is_old() -> None:
    plan, requests = planned(policy(), at_request(pairs(10), count=9_000), f"  {DRAFT}\n", SNAPSHOT)
    assert indices(plan) == [None, None, 14, 15, 16, 17, 18, 19, 20]
    summary, acknowledged = (plan.input or ())[:2]
    assert (summary.message.text, summary.message.role, summary.stands_for) == (SNAPSHOT, "user", tuple(range(14)))
    assert (acknowledged.message.text, acknowledged.message.role) == (ACKNOWLEDGEMENT, "assistant")
    draft, check = asks(requests)
    assert draft.shown == check.shown == tuple(range(14)) and (draft.attempts, draft.blank_fails) == (5, True)
    assert check.messages[: len(draft.messages)] == draft.messages and check.messages[-2].text == DRAFT
    assert plan.cutoff is not None and (plan.cutoff.index, plan.cutoff.moved) == (14, False)


def test_the_request_in_the_making_is_never_part_of_what_is_old() -> None:
    messages = [*pairs(2), Message.user("go"), call("c"), result("c")]
    view = replace(view_of(messages, window=100, hook="request"), usage=Usage(90), billed=5)
    plan, _ = planned(policy(), view, DRAFT, SNAPSHOT)
    assert indices(plan) == [None, None, 4, 5, 6]


def test_with_everything_answered_nothing_stays_word_for_word() -> None:
    plan, _ = planned(policy(), view_of([Message.user("go"), *steps(20), answer("done")]), DRAFT, SNAPSHOT)
    assert indices(plan) == [None, None]


def test_one_long_turn_has_nowhere_to_cut() -> None:
    view = view_of([Message.user("go"), *steps(20)], window=100, hook="overflow")
    plan, requests = planned(policy(), view)
    assert (plan.changes, plan.outcome, requests) == (False, "noop", [])


@pytest.mark.parametrize(
    ("messages", "merges"),
    [
        ([Message.user(DRAFT), answer("ok"), *pairs(8)], True),
        ([Message.user("a"), answer(f"as in {SNAPSHOT_TAG}"), *pairs(8)], True),
        ([Message.user("a"), call("c"), result("c", DRAFT), answer("b"), *pairs(8)], False),
    ],
)  # fmt: skip
def test_an_earlier_snapshot_is_carried_on_wherever_its_tag_was_said(messages: list[Message], merges: bool) -> None:
    _, requests = planned(policy(), view_of(messages), DRAFT, SNAPSHOT)
    assert ("earlier snapshot" in asks(requests)[0].messages[-1].text) is merges


def test_the_path_of_an_approved_plan_and_the_environment_are_shown_to_the_summariser() -> None:
    view = view_of(pairs(10), host={"plan_path": "plans/next.md", "memory": "house rules"})
    _, requests = planned(policy(), view, DRAFT, SNAPSHOT)
    rules, talk = asks(requests)[0].messages
    assert "plans/next.md" in rules.text and rules.role == "system" and "house rules" in talk.text
    _, requests = planned(policy(environment_in_history=False), view, DRAFT, SNAPSHOT)
    assert "house rules" not in asks(requests)[0].messages[1].text


def test_the_whole_conversation_is_shown_calls_and_results_included() -> None:
    messages = [Message.user("go"), call("c", arguments='{"path":"zebra"}'), result("c", "r" * 5_000), answer("x")]
    _, requests = planned(policy(), view_of(messages), DRAFT, SNAPSHOT)
    text = asks(requests)[0].messages[1].text
    assert "zebra" in text and "r" * 5_000 in text and "[result of read_file]" in text


# Failures


def test_a_blank_check_leaves_the_draft_and_two_blanks_leave_everything() -> None:
    chosen = policy(blank_attempts=0)
    plan, requests = planned(chosen, view_of(pairs(10)), DRAFT, " \n")
    assert (plan.input or ())[0].message.text == DRAFT and not asks(requests)[0].blank_fails
    plan, _ = planned(chosen, view_of(pairs(10)), "", "  ")
    assert (plan.changes, plan.outcome, plan.error) == (False, "empty", None)


@pytest.mark.parametrize("texts", [[Reply(None, Failure("blank"))], [DRAFT, Reply(None, Failure("timeout", "late"))]])
def test_a_request_that_failed_is_an_error_and_changes_nothing(texts: list[Any]) -> None:
    plan, _ = planned(policy(), at_request(pairs(10), count=9_000, state=LATCHED, hook="manual"), *texts)
    assert not plan.changes and isinstance(plan.error, ModelError) and plan.state == LATCHED


def test_a_snapshot_that_is_longer_is_thrown_away_and_latches_unless_it_was_asked_for() -> None:
    long = "x" * 40_000
    plan, _ = planned(policy(), at_request(pairs(10), count=5_000), DRAFT, long)
    assert (plan.changes, plan.outcome, plan.state) == (False, "inflated", LATCHED)
    view = replace(view_of(pairs(10)), usage=Usage(100), billed=20)
    for before in (None, LATCHED):
        plan, _ = planned(policy(), replace(view, state=before), DRAFT, long)
        assert plan.outcome == "inflated" and plan.state == (before or GeminiCliRecord())


def test_a_preview_never_calls_a_snapshot_too_long() -> None:
    view = replace(view_of(pairs(10)), usage=Usage(100), billed=20)
    assert policy().plan(view).outcome == "compressed"


def test_latched_outputs_are_shortened_without_a_model_until_a_user_asks() -> None:
    messages = [Message.user("go"), *steps(3, chars=120_000), answer("done")]
    view = at_request(messages, count=80_000, window=150_000, state=LATCHED)
    plan, requests = planned(policy(masking=False), view)
    assert (plan.outcome, asks(requests), plan.state) == ("truncated", [], LATCHED)
    assert [item.how for item in plan.input or ()].count("evicted") == 2
    plan, _ = planned(policy(), view_of(pairs(10), state=LATCHED), DRAFT, SNAPSHOT)
    assert plan.state == GeminiCliRecord()


def test_latched_with_nothing_to_gain_everything_stays() -> None:
    view = at_request(pairs(10), count=500, window=900, state=LATCHED)
    assert planned(policy(masking=False), view)[0].outcome == "noop"


# Tool outputs


def test_outputs_over_the_budget_are_filed_newest_first_and_only_long_ones_get_shorter() -> None:
    messages = [Message.user("go"), *steps(4, chars=100_000), answer("done"), *pairs(1)]
    view = at_request(messages, count=300_000, window=500_000, state=LATCHED)
    chosen = policy(masking=False, tool_response_budget=50_000, truncate_tool_output_threshold=60_000)
    plan, requests = planned(chosen, view)
    assert [one.index for one in requests if isinstance(one, Evict)] == [4, 2]
    assert [item.index for item in plan.input or () if item.how == "evicted"] == [2, 4]
    short, _ = planned(policy(masking=False, truncate_tool_output_threshold=100_000), view)
    assert all(item.how == "kept" for item in short.input or ())


def test_an_output_that_can_not_be_filed_stays_and_counts_in_full() -> None:
    messages = [Message.user("go"), *steps(4, chars=100_000), answer("done")]
    view = at_request(messages, count=300_000, window=500_000, state=LATCHED)
    for index, call_id in ((6, "c2"), (4, "c1"), (2, "c0")):
        text = view.log[index].text
        view = view.learn(Evict(index=index, call_id=call_id, text=text), Reply(None, Failure("error")))
    plan, _ = planned(policy(masking=False), view)
    assert all(item.how == "kept" for item in plan.input or ())


def test_the_summariser_sees_outputs_shortened_only_where_they_do_not_fit() -> None:
    messages = [Message.user("go"), *steps(2, chars=300_000), answer("done"), *pairs(2)]
    for window, is_short in ((160_000, False), (150_000, True)):
        _, requests = planned(policy(), at_request(messages, count=100_000, window=window), DRAFT, SNAPSHOT)
        assert ("x" * 300_000 not in asks(requests)[0].messages[1].text) is is_short


def test_media_that_stay_are_counted_by_the_provider_where_it_can() -> None:
    picture = Image("data:image/png;base64,AAAA", "{}")
    messages = [*pairs(5), Message.user([picture]), answer("nice"), *pairs(1)]
    plan, requests = planned(policy(), at_request(messages, count=9_000), DRAFT, SNAPSHOT)
    assert plan.changes and any(isinstance(one, Count) for one in requests)
    view = at_request(messages, count=9_000)
    counted = next(one for one in requests if isinstance(one, Count))
    plan, _ = planned(policy(), view.learn(counted, Reply(9_001)), DRAFT, SNAPSHOT)
    assert plan.outcome == "inflated"


def masks_of(messages: list[Message], **settings: Any) -> list[int]:
    view = view_of([*messages, Message.user("go on")], window=10**9, hook="request")
    plan, _ = planned(policy(**settings), view)
    return [item.index or 0 for item in plan.input or () if MASK_TAG in item.message.text]


def test_outputs_behind_the_newest_fifty_thousand_tokens_are_masked_once_there_are_enough() -> None:
    assert masks_of([Message.user("go"), *steps(5, chars=100_000), answer("done")]) == [2, 4, 6, 8]
    assert masks_of([Message.user("go"), *steps(3, chars=90_000), answer("done")]) == []
    assert masks_of([Message.user("go"), *steps(5, chars=100_000)]) == [2, 4, 6]
    unprotected = {"protect_latest_turn": False}
    assert masks_of([Message.user("go"), *steps(5, chars=100_000)], **unprotected) == [2, 4, 6, 8]


def test_exempt_masked_and_unshrinkable_outputs_are_left_alone() -> None:
    assert masks_of([Message.user("go"), *steps(5, chars=100_000, name="ask_user"), answer("done")]) == []
    assert masks_of([Message.user("go"), *steps(5, chars=100_000, name="run_shell_command"), answer("done")]) == []
    small = {"protection_threshold_tokens": 10, "min_prunable_threshold_tokens": 10}
    assert masks_of([Message.user("go"), *steps(5, chars=60), answer("done")], **small) == []
    tagged = [Message.user("go"), call("a"), result("a", f"{MASK_TAG}{'x' * 400_000}"), answer("done")]
    assert masks_of(tagged) == []


def test_masks_follow_a_compression_in_the_same_call() -> None:
    view = at_request(pairs(10), count=9_000)
    plan, _ = planned(policy(), view, DRAFT, SNAPSHOT)
    assert plan.again and not planned(policy(masking=False), view, DRAFT, SNAPSHOT)[0].again
    second = replace(view.after(plan), done=(plan,))
    assert planned(policy(), second)[0].outcome == "unchanged"


@pytest.mark.parametrize(
    ("name", "content", "is_short"),
    [
        ("run_shell_command", "x" * 40_001, True), ("run_shell_command", "x" * 40_000, False),
        ("mcp_dump", "x" * 40_001, True), ("web_fetch", "x" * 90_000, False),
    ],
)  # fmt: skip
def test_long_outputs_of_the_shell_and_of_mcp_tools_are_shortened_on_arrival(
    name: str, content: str, is_short: bool
) -> None:
    view = view_of([Message.user("go"), call("c", name=name), result("c", content, name)], hook="result", window=10**9)
    plan, requests = planned(policy(), view)
    assert plan.changes is is_short and bool(requests) is is_short


@pytest.mark.parametrize(("setting", "count"), [(0, 100), (40_000, 100_000)])
def test_nothing_is_shortened_on_arrival_where_it_is_off_or_the_window_is_full(setting: int, count: int) -> None:
    messages = [
        Message.user("go"),
        call("c", name="run_shell_command"),
        result("c", "x" * 500_000, "run_shell_command"),
    ]
    view = replace(view_of(messages, hook="result"), usage=Usage(count), billed=2)
    assert not planned(policy(truncate_tool_output_threshold=setting), view)[0].changes


# Limits and properties


def test_a_session_ends_at_its_limit_of_requests() -> None:
    view = at_request(pairs(3), count=10)
    assert isinstance(policy(max_session_turns=3).plan(view).error, BudgetError)
    assert policy(max_session_turns=4).plan(view).error is None


def test_without_recovery_a_refusal_is_not_answered() -> None:
    assert "overflow" in policy().hooks and "overflow" not in policy(recovers_overflow=False).hooks


def test_notes_of_the_harness_are_neither_filed_nor_masked() -> None:
    view = at_request([*pairs(10)], count=9_000)
    stub = Item(None, result("c", "x" * 900_000))
    view = replace(view, input=ModelInput((*view.input[:3], stub, *view.input[3:])), billed=21)
    _, requests = planned(policy(), view, DRAFT, SNAPSHOT)
    assert not any(isinstance(one, Evict) for one in requests)


@given(transcripts())
def test_plans_are_deterministic_in_order_and_stand_for_all_that_goes(messages: Any) -> None:
    view = view_of(list(messages))
    plan = policy().plan(view)
    assert plan == policy().plan(view)
    kept = [index for index in indices(plan) if index is not None]
    assert kept == sorted(kept)
    gone = {item.index for item in view.input} - set(kept)
    assert not plan.changes or gone <= set((plan.input or ())[0].stands_for)
