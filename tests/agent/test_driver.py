from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core import edits
from harness_nb.core.config import CompactionConfig
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Evict, Failure, Reply
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ModelError
from harness_nb.policies.harness import HarnessPolicy
from tests.agent.driving import around, conversation, drive, one_round, rounds, summaries, talk
from tests.strategies import transcripts


def compacting(**settings: Any) -> HarnessPolicy:
    return HarnessPolicy(CompactionConfig(**({"trigger_messages": 9, "keep_messages": 3} | settings)))


def test_begun_comes_first_then_what_leaves_then_the_request() -> None:
    effects: list[Effect] = []
    talked = conversation(talk(4))
    (done,) = drive(talked, compacting(), effects=effects)
    begun, leaving, ask = effects
    assert isinstance(begun, Begun) and begun.ahead.changes
    assert isinstance(leaving, Leaving) and leaving.indices == (0, 1, 2, 3, 4, 5)
    assert isinstance(ask, Ask) and ask.shown == leaving.indices
    assert done.outcome == "completed" and [request for request, _ in done.asked] == [ask]
    assert [item.index for item in talked.input] == [None, 6, 7, 8]
    assert (done.tokens_before, done.tokens_after) == (done.view.tokens, talked.view("request", around()).tokens)


def test_a_quiet_plan_leaves_no_trace() -> None:
    effects: list[Effect] = []
    assert drive(conversation(talk(1)), compacting(), effects=effects) == () and effects == []


def test_a_hook_that_the_policy_does_not_want_never_reaches_it() -> None:
    assert drive(conversation(talk(9)), compacting(), "turn") == ()


def test_equal_requests_are_asked_once_and_a_repeat_with_another_number_again() -> None:
    def plan(view: View) -> Plan:
        old = view.input[:6]
        first, same = view.reply(Ask.summary(old)), view.reply(Ask.summary(old))
        repeat = view.reply(replace(Ask.summary(old), nth=1))
        assert first == same
        return view.becomes((edits.summary(repeat, of=old), *view.input[6:]), "mine")

    (done,) = drive(conversation(talk(4)), plan)
    assert [getattr(request, "nth", None) for request, _ in done.asked] == [0, 1]


def test_a_failed_request_is_a_reply_that_the_policy_sees() -> None:
    def plan(view: View) -> Plan:
        path = view.reply(Evict(index=1, call_id="c", text="long"))
        if path.failure is not None:
            return view.becomes(view.input[4:], f"filing failed: {path.failure.detail}")
        return view.unchanged("filed")

    def answer(effect: Effect) -> Answer:
        return Failure("error", "disk full") if isinstance(effect, Evict) else None

    talked, effects = conversation(talk(4)), list[Effect]()
    (done,) = drive(talked, plan, answer=answer, effects=effects)
    assert done.reason == "filing failed: disk full" and len(talked.input) == 5
    kinds = [type(effect).__name__ for effect in effects]
    assert kinds == ["Evict", "Begun", "Leaving"]  # on assumptions nothing was to leave


# All or nothing


@pytest.mark.parametrize(
    "reply", [Reply(None, Failure("timeout", "late")), Reply(""), Reply(" \n"), Reply("word " * 5_000)]
)
def test_r021_r014_r015_after_a_failed_blank_or_longer_summary_everything_is_as_it_was(reply: Reply) -> None:
    talked = conversation(talk(4))
    was, state = talked.input, talked.state
    (done,) = drive(talked, compacting(), answer=lambda effect: reply if isinstance(effect, Ask) else None)
    assert done.outcome == "failed" and talked.input is was and talked.state is state
    assert done.tokens_after == done.tokens_before


def test_r021_messages_that_could_not_be_written_down_do_not_leave() -> None:
    effects: list[Effect] = []
    talked = conversation(talk(4))
    was = talked.input

    def answer(effect: Effect) -> Answer:
        return Failure("error", "disk full") if isinstance(effect, Leaving) else Reply("never asked")

    (done,) = drive(talked, compacting(), answer=answer, effects=effects)
    assert (done.outcome, done.reason) == ("failed", "nothing was replaced: disk full")
    assert talked.input is was and not any(isinstance(effect, Ask) for effect in effects)


def test_what_is_said_while_a_summary_is_written_is_appended() -> None:
    talked = conversation(talk(4))

    def answer(effect: Effect) -> Answer:
        if isinstance(effect, Ask):
            talked.add(Message.user("meanwhile"))
        return summaries()(effect)

    drive(talked, compacting(), answer=answer)
    assert [item.index for item in talked.input] == [None, 6, 7, 8, 9]


class Faulty(CompactionPolicy):
    """A policy with a bug at one point of a pass."""

    def __init__(self, at: str, value: object) -> None:
        self.at, self.value = at, value

    def plan(self, view: View) -> Plan:
        if self.at == "ahead" or (view.strict and self.at == "strict"):
            if isinstance(self.value, Exception):
                raise self.value
            return self.value  # type: ignore[return-value]
        return view.becomes(view.input[4:], "mine")


@pytest.mark.parametrize("at", ["ahead", "strict"])
@pytest.mark.parametrize("value", [ValueError("a bug"), None, "no plan", Plan(input=("no item",))])  # type: ignore[arg-type]
def test_a_policy_with_a_bug_fails_visibly_and_changes_nothing(at: str, value: object) -> None:
    talked = conversation(talk(4))
    was = talked.input
    (done,) = drive(talked, Faulty(at, value))
    assert done.outcome == "failed" and done.reason.startswith("policy 'Faulty' failed: ")
    assert talked.input is was and not done.plan.changes


@pytest.mark.parametrize("at", ["ahead", "strict"])
def test_a_policy_that_forgets_to_return_its_plan_is_told_what_to_return(at: str) -> None:
    (done,) = drive(conversation(talk(4)), Faulty(at, None))
    assert "plan(view) gave None; give view.becomes(...) or view.unchanged(...)" in done.reason


def test_as_shipped_a_policys_bug_is_raised() -> None:
    with pytest.raises(ValueError, match="a bug"):
        drive(conversation(talk(4)), Faulty("ahead", ValueError("a bug")), guarded=False)


def test_as_shipped_nothing_is_repaired() -> None:
    talked = conversation(talk(4))
    drive(talked, lambda view: view.becomes(view.input[1:2], "mine"), guarded=False)
    assert [item.index for item in talked.input] == [1]


@given(transcript=transcripts(1))
def test_r023_view_and_log_are_never_changed(transcript: Transcript) -> None:
    talked = conversation([message for message in transcript if message.role != "system"])
    view = talked.view("request", around())
    held = copy.deepcopy((view.log[:], view.input[:]))
    drive(talked, compacting(trigger_messages=1, keep_messages=1))
    assert (view.log[:], view.input[:]) == held


# Passes


def test_a_policy_may_plan_again_after_a_swap_as_often_as_it_says() -> None:
    talked = conversation(talk(9))
    passes = drive(talked, lambda view: view.becomes(view.input[2:], f"pass {len(view.done)}", again=True))
    assert [done.reason for done in passes] == ["pass 0", "pass 1", "pass 2", "pass 3"]
    assert len(talked.input) == 19 - 4 * 2


def test_state_lives_on_also_when_the_list_stays() -> None:
    talked = conversation(talk(1))
    drive(talked, lambda view: view.unchanged("counted", state=(view.state or 0) + 1))  # type: ignore[operator]
    drive(talked, lambda view: view.unchanged("counted", state=(view.state or 0) + 1))  # type: ignore[operator]
    assert talked.state == 2


def test_a_list_for_one_request_is_forgotten_with_the_reply() -> None:
    talked = conversation(talk(4))
    drive(talked, lambda view: view.becomes(view.input[6:], "mine", lasts="request"))
    assert [item.index for item in talked.outgoing] == [6, 7, 8] and len(talked.input) == 9
    talked.add_reply(Message.assistant("answer"))
    assert talked.outgoing is talked.input and len(talked.input) == 10


def test_a_pin_that_comes_behind_a_list_for_one_request_stands_in_that_list_too() -> None:
    talked = conversation(talk(4))
    drive(talked, lambda view: view.becomes(view.input[6:], "mine", lasts="request"))
    talked.set_pins((Pin("always in metres"),))
    assert all("always in metres" in one[0].message.text for one in (talked.outgoing, talked.input))


def test_a_failed_model_call_of_a_policy_that_rests_costs_no_turn_either() -> None:
    talked = conversation(talk(4))
    plan = Plan(outcome="failed", reason="mine", error=ModelError("the model failed"))
    (only,) = drive(talked, lambda view: replace(plan, state=view.state), "manual", around(5))
    assert (only.outcome, only.plan.error) == ("skipped", None)


def test_the_latest_list_is_sent_also_when_the_one_before_was_for_one_request() -> None:
    talked = conversation(talk(6))

    def twice(view: View) -> Plan:
        lasts = "session" if view.done else "request"
        return view.becomes(view.input[4 if view.done else 2 :], "mine", lasts=lasts, again=not view.done)

    drive(talked, twice, "manual")
    assert talked.outgoing is talked.input and talked.input[0].index == 4


def test_texts_for_the_prompt_are_known_of_both_lists() -> None:
    talked = conversation(talk(6))
    rule = Item(None, Message.system("be brief"))
    drive(talked, lambda view: view.becomes((rule, *view.input[4:]), "mine"), "manual")
    drive(talked, lambda view: view.becomes(view.input[6:], "mine", lasts="request"), "manual")
    talked.add_reply(Message.assistant("done"))
    assert talked.has_system_items and talked.input[0] is rule


def test_a_list_that_lasts_with_a_reply_is_undone_without_one() -> None:
    for is_answered in (True, False):
        talked = conversation(talk(4))
        drive(talked, lambda view: view.becomes(view.input[6:], "mine", lasts="reply"))
        if is_answered:
            talked.add_reply(Message.assistant("answer"))
        talked.request_failed()
        assert len(talked.input) == (4 if is_answered else 9)


# When to rest


def test_r010_over_ten_idle_turns_an_input_that_stays_above_its_trigger_is_compacted_once() -> None:
    talked = conversation([*talk(12, chars=200), *one_round(3, chars=2_400)])
    policy = compacting(trigger_messages=0, trigger_tokens=1_000, keep_messages=20)
    effects: list[Effect] = []
    reasons = []
    for turn in range(10):
        reasons += [done.reason for done in drive(talked, policy, effects=effects)]
        talked.add_reply(Message.assistant("ok"))
        talked.begin_turn(Message.user(f"go on {turn}"))
    assert sum(isinstance(effect, Ask) for effect in effects) <= 1
    assert any(
        reason.startswith("rests until the input has grown by 1,000 tokens: the last one left") for reason in reasons
    )


def test_r010_after_material_growth_it_is_compacted_again() -> None:
    talked = conversation([*talk(12, chars=200), *one_round(3, chars=2_400)])
    policy = compacting(trigger_messages=0, trigger_tokens=1_000, keep_messages=20)
    effects: list[Effect] = []
    drive(talked, policy, effects=effects)
    for message in (
        Message.assistant("a" * 3_000),
        Message.user("b" * 3_000),
        Message.assistant("c"),
        Message.user("d"),
    ):
        talked.add(message)
    drive(talked, policy, effects=effects)
    assert sum(isinstance(effect, Ask) for effect in effects) == 2


def test_r013_three_failures_in_a_row_open_the_breaker_and_growth_or_a_manual_call_closes_it() -> None:
    talked = conversation(talk(4))
    policy = compacting()
    effects: list[Effect] = []

    def fail(effect: Effect) -> Answer:
        return Reply(None, Failure("server_error", "500")) if isinstance(effect, Ask) else None

    outcomes = []
    for _ in range(5):
        outcomes += [done.outcome for done in drive(talked, policy, answer=fail, effects=effects)]
        talked.add_reply(Message.assistant("ok"))
        talked.begin_turn(Message.user("go on"))
    assert outcomes == ["failed", "failed", "failed", "skipped", "skipped"]
    assert sum(isinstance(effect, Ask) for effect in effects) == 3
    (done,) = drive(talked, policy, "manual")
    assert done.outcome == "completed" and talked.stall is None


def test_r013_gains_of_one_percent_open_the_breaker_too() -> None:
    talked = conversation(talk(200))
    asked = 0
    for _ in range(6):
        outcomes = [done.outcome for done in drive(talked, lambda view: view.becomes(view.input[2:], "mine"))]
        asked += outcomes == ["completed"]
        talked.add_reply(Message.assistant("ok"))
        talked.begin_turn(Message.user("go on"))
    assert asked == 3


def test_a_call_that_gained_nothing_is_not_made_again_before_something_was_said() -> None:
    talked = conversation(talk(200))
    drive(talked, lambda view: view.becomes(view.input[2:], "mine"))
    (again,) = drive(talked, lambda view: view.becomes(view.input[2:], "mine"))
    assert again.outcome == "skipped" and again.reason.startswith("rests until the conversation grows: it gained only")


def test_r012_progress_is_measured_in_tokens_not_in_messages() -> None:
    talked = conversation([*talk(1), *rounds(5, chars=4_000)])

    def previews(view: View) -> Plan:
        return view.becomes([edits.truncated(item, 100, 100) for item in view.input], "mine", outcome="truncated")

    (done,) = drive(talked, previews, "overflow")
    assert done.outcome == "completed" and talked.stall is None
    assert len(talked.input) == 13 and done.tokens_after < 0.4 * done.tokens_before


@pytest.mark.parametrize("hook", ["request", "overflow", "manual"])
def test_r011_r034_nothing_is_asked_where_no_compaction_can_help(hook: Any) -> None:
    talked = conversation([*talk(6), Message.user("x" * 40_000)])
    talked.begin_turn(Message.user("y" * 40_000))
    effects: list[Effect] = []
    (done,) = drive(talked, compacting(), hook, around(8_000), effects=effects)
    assert done.outcome == "skipped" and effects == []
    assert "user (message " in done.reason and "8,000" in done.reason


def test_a_bug_is_told_with_the_line_of_the_policy_in_which_it_is() -> None:
    class Careless(CompactionPolicy):
        def plan(self, view: View) -> Plan:
            return self.cut(view)

        def cut(self, view: View) -> Plan:
            view.cut(keep_mesages=3)  # type: ignore[call-overload]
            return view.unchanged("never reached")

    line = Careless.cut.__code__.co_firstlineno + 1
    (done,) = drive(conversation(talk(4)), Careless())
    assert "unexpected keyword argument 'keep_mesages'" in done.reason and done.reason.endswith(
        f"(line {line}, in cut)"
    )
    (wrong,) = drive(conversation(talk(4)), Faulty("ahead", None))
    assert wrong.reason.endswith("give view.becomes(...) or view.unchanged(...)")
