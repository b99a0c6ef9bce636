from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Failure, Reply
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.policies.hermes.config import HermesConfig
from harness_nb.policies.hermes.gates import exchanges_kept
from harness_nb.policies.hermes.policy import HermesPolicy
from harness_nb.policies.hermes.record import HermesRecord
from tests.policies.hermes.talks import answer, chat, steps, view_of
from tests.strategies import transcripts

NOW = datetime(2026, 4, 12, tzinfo=UTC)
OK = Reply("## Goal\nWhat a model wrote.")
BROKEN = Reply(None, Failure("server_error", "boom", 500))
REFUSED = Reply(None, Failure("permission", "bad key", 401))


def policy(**settings: Any) -> HermesPolicy:
    return HermesPolicy(HermesConfig(**{"stored_mark_chars": 0, **settings}))


def planned(policy: HermesPolicy, view: View, reply: Reply = OK) -> Plan:
    """The plan once every request got that reply."""
    draft = policy.draft(view, policy.look(view).record)
    assert draft is not None
    models = {None, policy.config.summary_model}
    return policy.plan(
        replace(view, replies={draft.ask(view, policy.config, one): reply for one in models}, strict=True)
    )


def full(window: int = 64_000, **fields: Any) -> View:
    """A view over the trigger."""
    return view_of(chat(40, 3_000), window, now=NOW, **fields)


def shown(plan: Plan, view: View) -> list[int | None]:
    return [item.index for item in plan.items(view)]


def code(policy: HermesPolicy, view: View) -> str:
    return policy.look(view).gate.code


# When


def test_nothing_happens_below_the_trigger() -> None:
    view = view_of(chat(30, 400), 64_000)
    plan = policy().plan(view)
    assert not plan.changes
    assert code(policy(), view) == "below_threshold"
    assert isinstance(plan.state, HermesRecord)
    assert plan.state.last_prompt_tokens == policy().sizes(view).request


def test_the_trigger_is_inclusive() -> None:
    view = full()
    tokens = policy().sizes(view).request
    at = policy(threshold=0, threshold_floor=0, minimum_threshold=tokens)
    above = policy(threshold=0, threshold_floor=0, minimum_threshold=tokens + 1)
    assert code(at, replace(view, model=ModelLimits(name="m", window=500_000))) == ""
    assert code(above, replace(view, model=ModelLimits(name="m", window=500_000))) == "below_threshold"


def test_few_messages_with_a_long_system_prompt_are_not_looked_at() -> None:
    view = view_of(chat(8, 4_000), 64_000, system="s" * 220_000)
    assert code(policy(), view) == "cheap_gate"
    assert code(policy(), view_of(chat(12, 4_000), 64_000, system="s" * 220_000)) == ""


def test_it_can_be_switched_off_and_works_by_hand_all_the_same() -> None:
    assert code(policy(enabled=False), full()) == "disabled"
    assert code(policy(enabled=False), full(hook="manual")) == ""


def test_fewer_than_four_messages_are_not_compacted_by_hand() -> None:
    assert code(policy(), view_of(chat(1), hook="manual")) == "fewer_than_4_messages"
    assert planned(policy(), view_of(chat(4), hook="manual")).changes


def test_a_waiting_session_goes_by_its_size_or_its_count() -> None:
    assert code(policy(), full(hook="idle")) == ""
    few = view_of(chat(20), hook="idle")
    assert code(policy(), few) == "below_threshold"
    assert code(policy(hygiene_hard_message_limit=40), few) == ""


def test_the_provider_s_count_decides_inside_a_turn() -> None:
    said = steps(20)
    at = {"hook": "result", "billed": len(said) - 1}  # the reply that made the last call was billed
    assert code(policy(), view_of(said, 64_000, usage=Usage(input_tokens=60_000), **at)) == ""
    assert code(policy(), view_of(said, 64_000, usage=Usage(input_tokens=6_000), **at)) == "below_threshold"


def test_a_bill_of_another_list_does_not_count() -> None:
    said = [replace(one, usage=Usage(input_tokens=60_000)) if one.calls else one for one in steps(20)]
    assert code(policy(), view_of(said, 64_000, hook="result")) == "below_threshold"
    bill = {
        "usage": Usage(input_tokens=60_000),
        "billed": len(said) - 1,
        "carried": -9_000,
    }  # the list was edited since
    assert code(policy(), view_of(said, 64_000, hook="result", **bill)) == "below_threshold"


def test_after_a_compaction_the_provider_s_count_is_waited_for() -> None:
    view = full()
    state = planned(policy(), view).state
    assert code(policy(), replace(view, state=state)) == "awaiting_usage"
    counted = replace(view, state=state, hook="reply", usage=Usage(input_tokens=60_000))
    later = policy().plan(counted).state
    assert isinstance(later, HermesRecord)
    assert later.ineffective == 1
    assert code(policy(), replace(view, state=later)) == ""


def test_a_provider_that_reports_no_count_is_waited_for_only_where_that_is_set() -> None:
    view = full()
    state = planned(policy(), view).state
    grown = View.of(view.log.append(answer("done"), Message.user("next")), hook="turn", model=view.model, state=state)
    assert code(policy(), grown) == ""
    assert code(policy(waits_for_usage=True), grown) == "awaiting_usage"


def test_little_growth_since_a_request_that_fitted_is_tolerated() -> None:
    view = full()
    tokens = policy().sizes(view).request
    state = HermesRecord(fitting_tokens=tokens - 4_096, real_tokens=40_000, heard=len(view.log))
    assert code(policy(), replace(view, state=state)) == "small_growth"
    state = replace(state, fitting_tokens=tokens - 4_097)
    assert code(policy(), replace(view, state=state)) == ""


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (HermesRecord(cooldown_until=NOW.timestamp() + 1), "cooldown"),
        (HermesRecord(cooldown_until=NOW.timestamp()), ""),
        (HermesRecord(ineffective=2), "breaker_ineffective"),
        (HermesRecord(fallbacks=2), "breaker_fallback"),
    ],
)
def test_it_rests_after_failures_and_not_by_hand(state: HermesRecord, reason: str) -> None:
    view = full(state=state)
    assert code(policy(), view) == reason
    assert code(policy(), replace(view, hook="manual")) == ""


def test_inside_one_turn_it_compacts_three_times_at_most() -> None:
    view = full(hook="request")
    state = HermesRecord(turn=view.turn, attempts=3)
    assert code(policy(), replace(view, state=state)) == "attempts"
    assert code(policy(), replace(view, state=replace(state, turn=view.turn - 1))) == ""


def test_a_window_that_is_too_small_is_refused_only_where_that_is_set() -> None:
    view = full(window=24_000)
    assert planned(policy(), view).changes
    plan = policy(below_minimum="refuse").plan(view)
    assert isinstance(plan.error, ConfigError)


def test_a_small_window_of_the_summary_s_model_is_an_error_and_a_smaller_one_lowers_the_trigger() -> None:
    assert isinstance(policy(summary_model_window=32_000).plan(full()).error, ConfigError)
    lowered = policy(summary_model_window=70_000)
    view = view_of(chat(90, 3_000), 128_000, now=NOW)
    after = planned(lowered, view).state
    assert isinstance(after, HermesRecord)
    assert after.trigger == 70_000


# What


def test_start_and_end_stay_and_a_summary_takes_the_place_of_the_middle() -> None:
    view = full()
    plan = planned(policy(), view)
    kept = shown(plan, view)
    assert plan.outcome == "compressed"
    assert kept[:3] == [0, 1, 2] and kept[-1] == len(view.log) - 1
    summary = next(item for item in plan.items(view) if item.meta.get("hermes") == "summary")
    covered = {*summary.indices, *(index for index in kept if index is not None)}
    assert covered == set(range(len(view.log)))


def test_the_preview_is_complete_and_asks_nobody() -> None:
    view = full()
    assert [item.index for item in policy().plan(view).items(view)] == shown(planned(policy(), view), view)


def test_at_the_start_of_a_turn_it_goes_on_while_the_list_is_too_long() -> None:
    view = full()
    plan = planned(policy(), view)
    assert plan.again
    done = replace(view.after(plan), done=(plan,))
    assert code(policy(), done) == "below_threshold"


def test_the_second_summary_updates_the_first_and_the_start_is_lost() -> None:
    view = full()
    after = view.after(planned(policy(), view))
    again = replace(after, hook="manual")
    draft = policy().draft(again, policy().look(again).record)
    assert draft is not None and draft.is_update
    assert "What a model wrote." in draft.earlier
    assert not {0, 1, 2} & {item.index for item in draft.turns}
    fates = {fate.index: fate.fate for fate in planned(policy(), again).fates(again)}
    assert [fates[index] for index in (0, 1, 2, 3)] == ["gone", "gone", "gone", "stood for"]
    kept = policy(feed_decayed_head=True).draft(again, policy().look(again).record)
    assert kept is not None
    assert {0, 1, 2} <= {item.index for item in kept.turns}


def test_what_was_pruned_before_counts_and_a_failed_key_leaves_everything_as_it_was() -> None:
    view = view_of(steps(120, 2_400), 64_000, hook="request", now=NOW)
    plan = planned(policy(), view, REFUSED)
    assert not plan.changes and plan.outcome == "failed"
    assert isinstance(plan.state, HermesRecord)
    assert plan.state.resting(NOW.timestamp()) == 60
    assert planned(policy(level="engine"), view, REFUSED).outcome == "aborted"  # the compressor alone leaves it pruned


def test_after_another_failure_a_record_takes_the_place_of_the_summary_and_says_so() -> None:
    plan = planned(policy(), full(), BROKEN)
    summary = next(item for item in plan.items(full()) if item.meta.get("hermes") == "summary")
    assert plan.outcome == "fallback" and summary.failed
    assert isinstance(plan.state, HermesRecord)
    assert plan.state.fallbacks == 1
    assert not planned(policy(abort_on_summary_failure=True), full(), BROKEN).changes


def test_a_summary_model_that_fails_is_replaced_by_the_agent_s_from_then_on() -> None:
    plan = planned(policy(summary_model="small"), full(), BROKEN)
    assert isinstance(plan.state, HermesRecord)
    assert plan.state.main_model_only


def test_nothing_to_compress_is_counted() -> None:
    view = view_of(chat(2, 120_000), 64_000)
    plan = policy().plan(view)
    assert plan.outcome == "noop"
    assert isinstance(plan.state, HermesRecord)
    assert plan.state.ineffective == 1


def test_useless_passes_are_forgotten_only_where_sessions_are_stored() -> None:
    view = full(state=HermesRecord(ineffective=1))
    stored, bare = planned(policy(), view).state, planned(policy(session_store=False), view).state
    assert isinstance(stored, HermesRecord) and isinstance(bare, HermesRecord)
    assert (stored.ineffective, bare.ineffective) == (0, 1)
    assert (bool(stored.earlier), bool(bare.earlier)) == (False, True)


def test_open_tasks_of_the_loop_stand_at_the_end_again() -> None:
    view = full(host={"todo": "- [ ] write the tests"})
    assert planned(policy(), view).items(view)[-1].message.text.endswith("- [ ] write the tests")


# By hand


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("here", 2), ("here 5", 5), ("up to here", 2), ("--keep 3", 3), ("--keep=4", 4), ("here x", 2), ("HERE 1", 1),
        ("", None), ("the schema", None), ("over here please", None),
    ],
)  # fmt: skip
def test_words_by_hand_are_a_place_or_a_topic(words: str, kept: int | None) -> None:
    assert exchanges_kept(words) == kept


def test_here_sets_the_last_exchanges_aside() -> None:
    messages = chat(12, 2_000)[:-1]
    view = view_of(messages, hook="manual", words="here 2")
    kept = shown(planned(policy(), view), view)
    assert kept[-4:] == [20, 21, 22, 23]
    assert len(policy().set_aside(view)) == 4


def test_a_topic_is_handed_to_the_model() -> None:
    view = view_of(chat(12), hook="manual", words="the database")
    draft = policy().draft(view, HermesRecord())
    assert draft is not None
    assert draft.focus.text == "the database"
    assert "the database" in draft.ask(view, policy().config, None).messages[0].text


# Always


@given(st.data())
def test_any_conversation_gives_a_list_that_providers_take(data: st.DataObject) -> None:
    messages = data.draw(transcripts())
    hook = data.draw(st.sampled_from(["turn", "request", "manual", "overflow", "idle"]))
    view = view_of(list(messages), 200, hook=hook, now=NOW)
    chosen = policy(minimum_threshold=1, protect_first_n=data.draw(st.integers(0, 4)))
    plan = chosen.plan(view)
    new = [item.message for item in plan.items(view)]
    found = {one.kind for one in problems(new, needs_reply=False)} if plan.changes else set()
    assert found <= {"start", "late_system", "unanswered_call", "orphan_result"}
    if plan.changes and not {one.kind for one in problems(list(view.input.messages), needs_reply=False)}:
        assert not found & {"unanswered_call", "orphan_result"}


def test_planning_is_the_same_every_time_and_changes_no_view() -> None:
    view = full()
    before = view.input[:]
    assert policy().plan(view) == policy().plan(view)
    assert view.input[:] == before


def test_a_record_is_made_of_plain_values() -> None:
    state = planned(policy(), full()).state
    assert isinstance(state, HermesRecord)
    assert all(isinstance(getattr(state, name), int | float | str | None) for name in state.__dataclass_fields__)


def test_time_passes_by_the_view_alone() -> None:
    rested = full(state=HermesRecord(cooldown_until=NOW.timestamp() + 60))
    assert code(policy(), rested) == "cooldown"
    assert code(policy(), replace(rested, now=NOW + timedelta(seconds=60))) == ""


def test_it_plans_a_long_conversation_quickly() -> None:
    import time

    view = View.of(Transcript(chat(2_000, 400)), hook="turn", model=ModelLimits(name="m", window=200_000))
    chosen = policy()
    chosen.plan(view)
    begun = time.process_time()
    chosen.plan(view)
    assert time.process_time() - begun < 2.0
