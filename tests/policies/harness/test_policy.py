from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.config import TruncateArgsConfig
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Failure, Reply
from harness_nb.core.rounds import boundaries, problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.policies.harness.rooms import room_for_input
from tests.policies.harness.viewing import answer, answered, asked, policy, round_of, talk, view_of
from tests.strategies import transcripts


def kept(plan: Plan, view: View) -> list[int | None]:
    return [item.index for item in plan.items(view)]


def test_below_its_triggers_nothing_happens_and_the_reason_names_them() -> None:
    plan = policy(trigger_messages=50, trigger_tokens=80_000).plan(view_of(talk(3)))
    assert not plan.changes
    assert plan.reason == "below the trigger: 6 of 50 messages, 84 of 80,000 tokens"


@pytest.mark.parametrize("settings", [{"trigger_messages": 6}, {"trigger_messages": 0, "trigger_tokens": 84}])
def test_either_trigger_is_enough(settings: dict[str, int]) -> None:
    plan = policy(keep_messages=2, **settings).plan(view_of(talk(3)))
    assert kept(plan, view_of(talk(3))) == [None, 4, 5] and plan.outcome == "compacted"


def test_the_summary_stands_for_what_it_replaces_and_is_marked_as_assumed_in_a_preview() -> None:
    plan = policy(trigger_messages=6, keep_messages=2).plan(view_of(talk(3)))
    summary = plan.items(view_of(talk(3)))[0]
    assert (summary.how, summary.stands_for, summary.assumed) == ("summary", (0, 1, 2, 3), True)
    assert summary.message.role == "user" and summary.message.origin == "harness"


def test_the_request_for_a_summary_shows_what_is_old_and_nothing_else() -> None:
    request = asked(policy(trigger_messages=6, keep_messages=2), view_of(talk(3)))
    assert request.shown == (0, 1, 2, 3)
    assert "q0" in request.messages[0].text and "q2" not in request.messages[0].text


def test_an_earlier_summary_is_fed_forward() -> None:
    compacting = policy(trigger_messages=6, keep_messages=2)
    view = view_of(talk(3))
    view = view.after(answered(compacting, view, Reply("the earlier summary")))
    more = talk(3)
    view = replace(
        view, log=view.log.append(*more), input=view.input.append(*(Item(6 + at, m) for at, m in enumerate(more)))
    )
    request = asked(compacting, view)
    assert "<previous_summary>" in request.messages[0].text and "the earlier summary" in request.messages[0].text
    plan = answered(compacting, view, Reply("both"))
    assert plan.items(view)[0].stands_for == tuple(range(10))


@pytest.mark.parametrize("keep", range(7))
def test_r001_a_cut_never_parts_a_call_from_its_result(keep: int) -> None:
    messages = [Message.system("S"), Message.user("U1"), *round_of("c1"), answer(), Message.user("U2")]
    view = view_of(messages)
    for settings in ({"keep_messages": keep}, {"keep_tokens": keep * 15}):
        plan = policy(trigger_messages=1, **settings).plan(view)
        assert problems([item.message for item in plan.items(view)]) == ()


@pytest.mark.parametrize(("calls", "keep"), [(3, 4), (18, 5)])
def test_r002_a_round_of_many_calls_is_kept_or_summarised_whole(calls: int, keep: int) -> None:
    ids = [f"c{at}" for at in range(calls)]
    view = view_of([Message.user("U1"), *round_of(*ids), answer(), Message.user("U2")])
    plan = policy(trigger_messages=1, keep_messages=keep).plan(view)
    shown = [item.message.call_id for item in plan.items(view) if item.message.role == "tool"]
    assert shown in ([], ids)
    assert problems([item.message for item in plan.items(view)]) == ()


def test_r018_the_latest_request_stays_word_for_word_outside_the_kept_end() -> None:
    rounds = [message for at in range(12) for message in round_of(f"c{at}")]
    view = view_of([*talk(3), Message.user("the latest request"), *rounds])
    plan = policy(trigger_messages=10, keep_messages=6).plan(view)
    said = [item.message.text for item in plan.items(view) if item.message.origin == "user"]
    assert said == ["the latest request"]
    assert plan.items(view)[0].how == "summary"


def test_r020_a_turn_that_is_not_answered_is_all_there_is_so_nothing_is_compacted() -> None:
    view = view_of([Message.system("S"), Message.user("data:image/png;base64," + "A" * 2_000_000)])
    for hook in ("request", "manual", "overflow"):
        plan = policy(trigger_tokens=80_000).plan(replace(view, hook=hook))
        assert not plan.changes and "nothing is old enough" in plan.reason


@pytest.mark.parametrize("text", ["", "  \n ", None])
def test_r014_a_blank_summary_is_a_failure_and_the_list_stays(text: str | None) -> None:
    view = view_of(talk(5))
    plan = answered(policy(trigger_messages=6, keep_messages=2), view, Reply(text))
    assert not plan.changes and plan.outcome == "failed" and "blank" in plan.reason


def test_r021_a_failed_summary_changes_nothing_and_says_why() -> None:
    view = view_of(talk(5))
    reply = Reply(None, Failure("timeout", "the model did not answer in time"))
    plan = answered(policy(trigger_messages=6, keep_messages=2), view, reply)
    assert not plan.changes and plan.outcome == "failed"
    assert plan.reason == "the summary failed: the model did not answer in time"


@pytest.mark.parametrize("hook", ["manual", "overflow"])
def test_r033_asked_for_or_after_an_overflow_it_acts_below_its_triggers(hook: Hook) -> None:
    plan = policy(keep_messages=2).plan(view_of(talk(3), hook=hook))
    assert plan.changes and plan.reason.startswith({"manual": "asked for", "overflow": "the provider refused"}[hook])


def test_r033_after_an_overflow_the_kept_end_goes_by_what_the_provider_counted() -> None:
    messages = talk(6, chars=500)
    small = ModelLimits(name="m", window=4_000, max_output=500)
    unscaled = view_of(messages, model=small, hook="overflow", error=Refusal("too long"))
    plan, scaled = policy().plan(unscaled), policy().plan(replace(unscaled, scale=4.0))
    assert plan.changes and scaled.changes
    assert len(scaled.items(unscaled)) < len(plan.items(unscaled)) == 7


def test_r035_a_trigger_above_what_the_window_leaves_for_input_is_lowered() -> None:
    limits = ModelLimits(name="m", window=200_000, max_output=64_000)
    view = view_of(talk(30, chars=10_000), model=limits)
    assert view.tokens > 150_000
    compacting = policy(trigger_messages=0, trigger_tokens=184_000, keep_messages=4)
    assert [one.threshold for one in compacting.triggers(view)] == [132_000]
    plan = compacting.plan(view)
    assert "trigger_tokens=184,000 was lowered to 132,000, as 68,000 of the window are held free" in plan.reason
    assert room_for_input(view_of([], model=ModelLimits(name="m", window=8_000))) == 5_840
    assert room_for_input(view, 0.5) == 100_000 and room_for_input(view, 20_000) == 180_000


def test_an_end_that_alone_fills_the_trigger_is_kept_shorter() -> None:
    view = view_of(talk(5, chars=4_000))
    plan = policy(trigger_tokens=4_000, keep_messages=8).plan(view)
    assert plan.changes and len(plan.items(view)) < 8 and "alone are more" in plan.reason


def test_what_is_sent_beside_the_messages_leaves_less_room_for_the_kept_end() -> None:
    messages = talk(10, chars=800)
    sizes = [
        len(
            policy(trigger_tokens=4_000, keep_messages=16)
            .plan(view_of(messages, fixed_tokens=fixed))
            .items(view_of([]))
        )
        for fixed in (0, 2_000)
    ]
    assert sizes[1] < sizes[0] < 16


def test_r032_without_triggers_it_acts_by_hand_only() -> None:
    assert policy(trigger_messages=0, trigger_tokens=0).hooks == {"manual"}
    short = policy(trigger_messages=0, trigger_tokens=0, truncate_args=TruncateArgsConfig())
    assert short.hooks == {"manual", "request"}
    assert "overflow" in policy().hooks


# Shortened arguments


def write(call_id: str, chars: int) -> list[Message]:
    arguments = json.dumps({"path": "notes/a.md", "content": "x" * chars})
    return [Message.assistant(None, [ToolCall(call_id, "write", arguments)]), Message.tool(call_id, "written")]


def long_arguments(rounds: int = 20) -> list[Message]:
    old = [message for at in range(rounds) for message in write(f"c{at}", 5_000)]
    return [Message.user("write them all"), *old, answer(), Message.user("and one more"), *write("last", 5_000)]


SHORTEN = TruncateArgsConfig(trigger_messages=25, keep_messages=10)


def test_r040_old_arguments_are_shortened_and_stay_valid_json() -> None:
    view = view_of(long_arguments())
    plan = policy(truncate_args=SHORTEN).plan(view)
    arguments = [json.loads(call.arguments) for item in plan.items(view) for call in item.message.calls]
    assert plan.outcome == "truncated"
    assert len(arguments) == 21 and all(one["path"] == "notes/a.md" for one in arguments)
    assert len(arguments[0]["content"]) < 2_100 and "5,000" in arguments[0]["content"].replace("5000", "5,000")


def test_r041_the_running_turn_and_the_recent_end_are_left_alone_and_a_second_pass_finds_nothing() -> None:
    view = view_of(long_arguments())
    compacting = policy(truncate_args=SHORTEN, trigger_messages=0, trigger_tokens=0)
    plan = compacting.plan(view)
    changed = [item.index for item in plan.items(view) if item.how == "truncated"]
    assert changed and max(index for index in changed if index is not None) < len(view.input) - 10
    assert plan.items(view)[-2].how == "kept"
    assert not compacting.plan(view.after(plan)).changes


def test_a_summary_is_made_of_what_the_pre_pass_left() -> None:
    view = view_of(long_arguments())
    compacting = policy(truncate_args=SHORTEN, trigger_messages=30, keep_messages=10)
    plan = answered(compacting, view, Reply("short"))
    assert plan.outcome == "compacted"
    failed = answered(compacting, view, Reply(""))
    assert failed.changes and failed.outcome == "failed"  # what was shortened stays shortened
    assert "shortened arguments" in failed.reason and "the summary failed: the reply was blank" in failed.reason


# All conversations


@given(
    transcript=transcripts(1),
    keep_messages=st.integers(0, 12),
    keep_tokens=st.integers(0, 200),
    hook=st.sampled_from(["request", "manual", "overflow"]),
)
def test_every_plan_is_a_list_that_a_provider_takes(
    transcript: Transcript, keep_messages: int, keep_tokens: int, hook: Hook
) -> None:
    view = view_of(list(transcript), hook=hook)
    compacting = policy(trigger_messages=1, keep_messages=keep_messages, keep_tokens=keep_tokens)
    before = copy.deepcopy(list(transcript))
    plan = compacting.plan(view)
    messages = [item.message for item in plan.items(view)]
    assert problems(messages, needs_reply=False) == ()
    assert list(transcript) == before  # R023
    last = view.last_user
    assert last is None or last.message in messages
    assert kept(plan, view) == sorted(kept(plan, view), key=lambda index: -1 if index is None else index)


@given(transcript=transcripts(1), keep_messages=st.integers(0, 12))
def test_a_cut_lies_where_a_round_ends(transcript: Transcript, keep_messages: int) -> None:
    view = view_of(list(transcript))
    plan = policy(trigger_messages=1, keep_messages=keep_messages).plan(view)
    recent = [item.index for item in plan.items(view) if item.index is not None]
    positions = [at for at, item in enumerate(view.input) if item.index in recent]
    assert not plan.changes or len(view.input) - len(positions) >= 1
    tail = next(
        (at for at in range(len(view.input)) if view.input[at:] == tuple(plan.items(view)[-(len(view.input) - at) :])),
        0,
    )
    assert tail in boundaries(view.input.messages)
