from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_nb.agent import guards
from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Image, Message, Text, Usage
from harness_nb.core.requests import Evict, Failure, Reply, Unknown
from harness_nb.core.rounds import problems
from harness_nb.core.view import View
from harness_nb.policies.opencode.session import CLEARED_TEXT, MARKER_TEXT
from tests.policies.opencode.talks import BROKEN, OK, TOO_LONG, planned, policy, shown, talk, turn, view_of
from tests.strategies import transcripts

FULL = 92_000
PICTURE = Image("data:image/png;base64,AAAA", "{}")


def after(view: View, items: object, **fields: object) -> View:
    return replace(view, input=ModelInput(items), **fields)  # type: ignore[arg-type]


# When


def test_it_acts_when_the_last_count_reaches_the_usable_budget() -> None:
    assert not planned(policy(), view_of(talk(4, used=FULL - 1)))[0].changes
    plan, asked = planned(policy(), view_of(talk(4, used=FULL)))
    assert plan.outcome == "compressed" and len(asked) == 1
    assert plan.pressure is not None and plan.pressure.triggers[0].fired


def test_what_came_since_the_last_count_does_not_count() -> None:
    said = [*talk(4, used=FULL - 1), Message.user("x" * 400_000)]
    assert not planned(policy(), view_of(said))[0].changes


def test_a_summary_s_own_reply_is_not_tested() -> None:
    view = view_of(talk(4, used=FULL))
    plan, _ = planned(policy(), view)
    assert plan.input is not None
    assert not planned(policy(), after(view, plan.input))[0].changes


def test_without_a_count_an_estimate_takes_its_place_unless_as_shipped() -> None:
    said = talk(4, 200_000)
    assert planned(policy(), view_of(said))[0].changes
    assert not planned(policy(estimates_usage=False), view_of(said))[0].changes


def test_a_count_of_another_list_is_no_count_of_this_one() -> None:
    view = view_of(talk(4, used=FULL), usage=None)
    assert not planned(policy(), view)[0].changes


@pytest.mark.parametrize("settings", [{"auto": False}, {"context_limit": 0}])
def test_it_does_not_act_by_itself_when_off_or_the_window_is_not_known(settings: dict[str, object]) -> None:
    assert not planned(policy(**settings), view_of(talk(4, used=10**7)))[0].changes
    assert planned(policy(**settings), view_of(talk(4), hook="manual"))[0].changes


def test_with_auto_off_an_overflow_goes_to_the_caller() -> None:
    plan, asked = planned(policy(auto=False), view_of(talk(4), hook="overflow"))
    assert (plan.outcome, plan.changes, asked) == ("stored", False, [])


# What


def test_marker_and_summary_stand_in_front_of_the_tail_and_a_note_says_to_go_on() -> None:
    plan, asked = planned(policy(), view_of(talk(4, used=FULL)))
    assert plan.input is not None
    assert shown(plan.input) == ["marker", "summary", *range(8, 16), "continue"]
    assert plan.input[0].message.text == MARKER_TEXT
    assert plan.input[1].message.role == "assistant"
    assert plan.input[1].stands_for == asked[0].shown == tuple(range(8))
    assert plan.cutoff is not None and plan.cutoff.index == 8
    assert problems([item.message for item in plan.input]) == ()


def test_by_hand_and_when_it_is_switched_off_there_is_no_such_note() -> None:
    by_hand, _ = planned(policy(), view_of(talk(4), hook="manual"))
    quiet, _ = planned(policy(autocontinue=False), view_of(talk(4, used=FULL)))
    assert by_hand.input is not None and quiet.input is not None
    assert shown(by_hand.input) == shown(quiet.input) == ["marker", "summary", *range(8, 16)]


def test_an_earlier_summary_is_updated_and_no_material() -> None:
    acting, view = policy(autocontinue=False), view_of(talk(4, used=FULL))
    first, _ = planned(acting, view)
    assert first.input is not None
    more = view_of([*talk(4), *talk(3, used=FULL)])
    grown = after(more, (*first.input, *more.input[16:]))
    second, asked = planned(acting, grown)
    assert second.input is not None
    assert "what a model wrote" in asked[0].messages[-1].text
    assert asked[0].shown == tuple(range(8, 20))
    assert shown(second.input) == ["marker", "summary", *range(20, 28)]
    assert second.input[1].stands_for == tuple(range(20))


def test_an_earlier_marker_and_summary_come_back_inside_a_tail_that_begins_before_them() -> None:
    acting, view = policy(autocontinue=False), view_of(talk(4, used=FULL))
    first, _ = planned(acting, view)
    assert first.input is not None
    more = view_of([*talk(4), *talk(1, used=FULL)])
    second, _ = planned(acting, after(more, (*first.input, *more.input[16:])))
    assert second.input is not None
    assert shown(second.input) == ["marker", "summary", 12, 13, 14, 15, "marker", "summary", 16, 17, 18, 19]


def test_after_an_overflow_the_last_request_is_put_behind_the_summary() -> None:
    said = [*talk(3), Message.user((Text("look"), PICTURE))]
    plan, asked = planned(policy(tail_turns=0), view_of(said, hook="overflow"))
    assert plan.input is not None
    assert shown(plan.input) == ["marker", "summary", 12]
    replay = plan.input[-1]
    assert "image/png" in replay.message.text and replay.how == "truncated"
    assert asked[0].shown == tuple(range(12))


def test_with_nothing_before_the_request_all_is_summarised_and_the_note_explains() -> None:
    plan, asked = planned(policy(), view_of([Message.user("x" * 400_000)], hook="overflow"))
    assert plan.input is not None and asked[0].shown == (0,)
    assert "attachments" in plan.input[-1].message.text


# Failures


def test_a_failed_summary_takes_the_head_out_and_marks_itself_as_failed() -> None:
    plan, _ = planned(policy(), view_of(talk(4, used=FULL)), BROKEN)
    assert plan.input is not None and plan.outcome == "cut"
    assert shown(plan.input) == ["marker", *range(8, 16)]
    assert plan.input[0].failed


def test_a_summary_that_overflows_takes_nothing_out() -> None:
    plan, _ = planned(policy(), view_of(talk(4, used=FULL)), TOO_LONG)
    assert plan.input is not None
    assert shown(plan.input) == [*range(16), "marker"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_summary_is_as_good_as_any_and_says_that_it_failed(text: str) -> None:
    plan, _ = planned(policy(), view_of(talk(4, used=FULL)), Reply(text))
    assert plan.input is not None and plan.outcome == "compressed"
    assert plan.input[1].failed


def test_after_a_failure_the_next_prompt_is_answered_by_a_summary_that_cuts_nothing() -> None:
    acting = policy()
    failed, _ = planned(acting, view_of(talk(4, used=FULL)), BROKEN)
    assert failed.input is not None
    said = view_of([*talk(4), Message.user("and now?")])
    made_up, asked = planned(acting, after(said, (*failed.input, said.input[16])))
    assert made_up.input is not None and made_up.outcome == "unanchored"
    assert shown(made_up.input) == ["marker", *range(8, 17), "summary", "continue"]
    assert len(asked) == 1
    again, _ = planned(acting, after(said, (*failed.input, said.input[16])), BROKEN)
    assert (again.changes, again.outcome) == (False, "failed")


def test_a_plan_ahead_is_complete_and_says_what_it_assumes() -> None:
    plan = policy().plan(view_of(talk(4, used=FULL)))
    assert plan.input is not None and plan.input[1].assumed


# Results


def test_old_results_are_cleared_after_a_turn_when_that_gains_enough() -> None:
    said = [*turn(0, 200_000), *turn(1, 200_000), *turn(2), *turn(3)]
    plan, _ = planned(policy(prune=True), view_of(said, hook="end"))
    assert plan.outcome == "pruned" and plan.input is not None
    assert [item.index for item in plan.input if item.message.text == CLEARED_TEXT] == [2, 6]
    assert not planned(policy(prune=True, prune_minimum=100_000), view_of(said, hook="end"))[0].changes
    assert not planned(policy(), view_of(said, hook="end"))[0].changes


def spilled(tool: str, reply: Reply, **settings: object) -> View:
    view = view_of(turn(0, 80_000, tool)[:3], hook="result")
    acting = policy(spill_excluded_tools=(), **settings)
    with pytest.raises(Unknown) as wanted:
        acting.plan(replace(view, strict=True))
    assert isinstance(wanted.value.request, Evict)
    return view.after(acting.plan(view.learn(wanted.value.request, reply)))


def test_a_long_result_goes_to_a_file_and_its_beginning_stays() -> None:
    shown = spilled("look_up", Reply("results/c0.txt"), max_bytes=60_000).input[2]
    assert shown.how == "evicted" and "results/c0.txt" in shown.message.text
    shell = spilled("bash", Reply("results/c0.txt")).input[2]
    assert shell.message.text.startswith("[The beginning")


def test_a_result_that_can_not_be_filed_stays_whole() -> None:
    assert spilled("look_up", Reply(None, Failure("error", "full"))).input[2].how == "kept"


def test_a_short_result_stays_as_it_is() -> None:
    assert not policy().plan(view_of(turn(0)[:3], hook="result")).changes


def test_what_the_summary_is_shown_can_be_told_before_it_is_asked_for() -> None:
    acting, view = policy(), view_of(talk(4, 9_000, used=FULL))
    assert acting.shown(acting.preparation(view)).cut == (2, 6)


def test_results_of_reading_tools_stay_whole() -> None:
    view = view_of(turn(0, 80_000, "read_file")[:3], hook="result")
    assert not policy().plan(view).changes


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_conversation_gives_the_same_plan_twice_and_under_guards_a_list_that_providers_take(
    data: st.DataObject,
) -> None:
    messages = data.draw(transcripts())
    hook = data.draw(st.sampled_from(["request", "manual", "overflow", "end", "result"]))
    chosen = data.draw(st.fixed_dictionaries({"tail_turns": st.sampled_from([None, 0, 1, 2]), "prune": st.booleans()}))
    acting = policy(**chosen, prune_minimum=0, prune_protect=0, max_lines=1, context_limit=1)
    view = view_of(list(messages), 10_000, hook=hook)
    plan = acting.plan(view)
    assert acting.plan(view) == plan
    verdict = guards.after(view, plan)
    if verdict.plan.changes:
        new = [item.message for item in verdict.plan.items(view)]
        assert problems(new, needs_reply=False) == ()


def test_nothing_is_summarised_before_anything_was_said() -> None:
    assert not policy().plan(view_of([], hook="manual")).changes


def test_a_plan_changes_nothing_of_its_own_list() -> None:
    view = view_of(talk(4, used=FULL))
    plan, _ = planned(policy(), view, OK)
    assert plan.input is not None
    read = policy().read(plan.input)
    assert shown(read) == shown(plan.input)
    assert view.input[15].message.usage == Usage(input_tokens=FULL)
