from __future__ import annotations

import copy
import pickle
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Plan, Tier, Trigger
from harness_nb.core.requests import Ask, Failure, Reply, Unknown
from harness_nb.core.rounds import boundaries, problems
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from tests.strategies import transcripts, views

U1, A1, U2 = Message.user("x" * 40), Message.assistant("y" * 80), Message.user("z" * 20)
ASK = Ask(purpose="summary", messages=(Message.user("Summarise."),))


def view_of(*messages: Message, **fields: Any) -> View:
    return View.of(Transcript(messages), **fields)


def rounds_of(numbers: range) -> list[Message]:
    made = []
    for number in numbers:
        call = ToolCall(f"c{number}", "run")
        made += [Message.assistant(None, [call]), Message.tool(call.id, "done")]
    return made


def shortened(view: View, flags: list[bool]) -> tuple[Item, ...]:
    """Some items left out, and a note of some tokens in their place."""
    kept = tuple(item for item, keep in zip(view.input, flags, strict=False) if keep)
    gone = tuple(item for item in view.input if item not in kept)
    return (edits.note("some messages are left out " * 3, of=gone), *kept)


# What a view is made of


def test_a_view_of_a_transcript_shows_all_but_the_system_prompt() -> None:
    tool = Tool(name="run", description="Runs.", parameters={"type": "object"}, function=print)
    view = view_of(Message.system("Be"), U1, A1, Message.system("brief."), U2, tools=(tool,))

    assert [item.index for item in view.input] == [1, 2, 4]
    assert (view.system, view.turn) == ("Be\nbrief.", 4)
    assert view.fixed_tokens == view.measure.text("Be\nbrief.") + view.measure.tools((tool,))
    assert view_of(U1, fixed_tokens=7).fixed_tokens == 7


def test_a_note_of_the_harness_begins_no_turn() -> None:
    assert view_of(U1, A1, Message.user("note", origin="harness")).turn == 0


def test_without_a_user_message_no_turn_is_in_progress() -> None:
    assert (view_of().turn, view_of(A1).turn) == (0, 1)


@given(views())
def test_a_view_survives_pickling(view: View) -> None:
    again = pickle.loads(pickle.dumps(view))  # noqa: S301

    assert (again.log, again.input, again.tokens) == (view.log, view.input, view.tokens)


# Sizes


def test_without_a_bill_the_figure_is_an_estimate_of_list_and_fixed_parts() -> None:
    view = view_of(Message.system("s" * 400), U1, A1)

    assert view.tokens == 100 + 14 + 24
    assert (view.figure.billed, view.figure.estimated) == (0, view.tokens)


def test_with_a_bill_only_what_came_after_it_is_estimated() -> None:
    view = view_of(Message.system("s" * 400), U1, A1, U2, usage=Usage(1_000, 200, 900), billed=2)

    assert view.tokens == 1_200 + 9
    assert (view.figure.billed, view.figure.estimated) == (1_200, 9)
    assert view.figure.source == "1,200 from the last bill plus an estimate of 9 since"


def test_a_bill_of_another_list_does_not_count() -> None:
    view = view_of(U1, usage=Usage(1_000), billed=0)

    assert (view.tokens, view.figure.billed) == (14, 0)


def test_the_scale_corrects_the_estimate_and_never_the_bill() -> None:
    assert view_of(U1, scale=3.0).tokens == 42
    assert view_of(U1, U2, scale=3.0, usage=Usage(1_000), billed=1).tokens == 1_000 + 27


@given(views(), st.lists(st.booleans(), max_size=60))
def test_the_view_after_a_plan_has_the_size_that_was_figured_before(view: View, flags: list[bool]) -> None:
    plan = view.becomes(shortened(view, flags), "shorter")

    after = view.after(plan)

    assert after.tokens == view.tokens_of(plan.items(view)) >= 0
    assert after.input[:] == plan.input


@given(views(), st.lists(st.booleans(), max_size=60), st.lists(st.booleans(), max_size=60))
def test_plans_compose_and_what_is_appended_later_adds_its_estimate(
    view: View, first: list[bool], second: list[bool]
) -> None:
    once = view.after(view.becomes(shortened(view, first), "shorter"))
    twice = once.after(once.becomes(shortened(once, second), "shorter still"))
    grown = replace(twice, input=twice.input.append(Item(99, U1)))

    assert twice.tokens == once.tokens_of(twice.input)
    if twice.tokens > 0:
        assert abs(grown.tokens - twice.tokens - view.measure(U1) * view.scale) <= 1


@given(views())
def test_the_list_itself_has_the_size_of_the_view(view: View) -> None:
    assert view.tokens_of(view.input) == view.tokens_of(view.input[:]) == view.tokens


def test_a_plan_that_leaves_the_list_keeps_the_bill_and_takes_the_state() -> None:
    view = view_of(U1, usage=Usage(1_000), billed=1)

    after = view.after(view.unchanged("quiet", state="noted"))

    assert (after.tokens, after.state, after.input) == (1_000, "noted", view.input)


def test_a_figure_of_a_long_list_costs_next_to_nothing_once_it_is_measured() -> None:
    log = Transcript([U1, A1] * 2_500)
    view = View.of(log)
    assert view.tokens == 2_500 * 38

    started = time.perf_counter()
    for _ in range(200):
        assert view.tokens
    assert (time.perf_counter() - started) / 200 < 0.000_1


def test_appending_to_a_long_list_costs_next_to_nothing() -> None:
    view = View.of(Transcript([U1, A1] * 10_000))
    assert view.tokens
    grown = view.input

    started = time.perf_counter()
    for index in range(200):
        grown = grown.append(Item(20_000 + index, U2))
        assert replace(view, input=grown).tokens
    assert (time.perf_counter() - started) / 200 < 0.000_2


# Requests


def test_an_unknown_reply_is_assumed_in_a_preview() -> None:
    reply = view_of(U1).reply(ASK)

    assert (reply.assumed, reply.failure) == (True, None)


def test_an_unknown_reply_ends_a_strict_attempt() -> None:
    with pytest.raises(Unknown) as caught:
        view_of(U1, strict=True).reply(ASK)
    assert caught.value.request is ASK


@pytest.mark.parametrize("strict", [True, False])
def test_a_view_that_learnt_a_reply_gives_it_back_and_the_old_view_does_not(strict: bool) -> None:
    view = view_of(U1, strict=strict)
    failed = Reply(failure=Failure("timeout", "after 60 s"))

    wiser = view.learn(ASK, Reply("SUMMARY")).learn(replace(ASK, nth=1), failed)

    assert (wiser.reply(ASK), wiser.reply(replace(ASK, nth=1))) == (Reply("SUMMARY"), failed)
    assert view.replies == {}


# Cutting


@given(transcripts(), st.integers(0, 30), st.integers(0, 400))
def test_r001_no_cut_splits_a_round(transcript: Transcript, keep_messages: int, keep_tokens: int) -> None:
    view = View.of(transcript)

    cutoff = view.cutoff(keep_messages=keep_messages, keep_tokens=keep_tokens)
    old, recent = view.cut(keep_messages=keep_messages, keep_tokens=keep_tokens)

    assert cutoff.index in boundaries(view.input.messages)
    assert (len(old), (*old, *recent)) == (cutoff.index, view.input[:])
    for half in (old, recent):
        kinds = {one.kind for one in problems([item.message for item in half], needs_reply=False)}
        assert not kinds & {"orphan_result", "unanswered_call"}


def test_r018_the_latest_real_user_message_is_known_wherever_it_stands() -> None:
    view = view_of(
        U1, A1, U2, *rounds_of(range(12)), Message.user("note", origin="harness"), pins=(Pin("a", "rule", 0), Pin("b"))
    )

    assert view.last_user == Item(2, U2)
    assert (view.kept_indices, view.pinned_indices) == ({2}, {0})
    assert view.cutoff(keep_messages=6).index > 2


def test_a_list_without_a_user_message_has_no_latest_one() -> None:
    assert view_of(A1).last_user is None
    assert view_of(A1).kept_indices == frozenset()


def test_r020_the_turn_in_progress_begins_with_the_request_that_is_not_answered_yet() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 2_000_000}}
    wire = {"role": "user", "content": [{"type": "text", "text": "what is this?"}, picture]}
    view = view_of(Message.system("S"), Message.from_openai(wire))

    assert view.turn == 1
    assert view.tokens < 2_000
    assert view.kept_indices == {1}


# Plans


def test_a_plan_carries_state_and_pressure_unless_told_otherwise() -> None:
    view = view_of(U1, A1, state="before", model=ModelLimits(name="m", window=100))
    asked = view.pressure(tokens=90)

    plain = view.unchanged("quiet")
    told = view.becomes(view.input[:1], "cut", outcome="elided", lasts="request", state="later", pressure=asked)

    assert (plain.state, plain.outcome, plain.input, plain.changes) == ("before", "unchanged", None, False)
    assert plain.pressure == view.pressure()
    assert (told.state, told.outcome, told.lasts, told.changes) == ("later", "elided", "request", True)
    assert told.pressure == asked


def test_pressure_finds_the_tier_in_force() -> None:
    view = view_of(U1, A1, model=ModelLimits(name="m", window=100))
    tiers = (Tier(number=1, threshold=38, action="a"), Tier(number=2, threshold=39, action="b"))
    trigger = Trigger(name="trigger_tokens", value=38, threshold=39)

    pressure = view.pressure(tiers=tiers, triggers=[trigger])

    assert (pressure.tokens, pressure.tier, pressure.share) == (38, 1, 0.38)
    assert (pressure.tiers, pressure.triggers) == (tiers, (trigger,))
    assert pressure.source == "estimated by characters/4"
    assert view.pressure(tiers=tiers, tokens=150).tier == 2
    assert view.pressure(tokens=150).source == "estimated by the policy"
    assert view.pressure().tier == 0


@given(views())
def test_r023_planning_changes_neither_messages_nor_lists(view: View) -> None:
    before = copy.deepcopy((view.log, view.input))

    old, recent = view.cut(keep_messages=2)
    summary = edits.summary(view.reply(Ask.summary(old)), of=old)
    made = [edits.arguments_truncated(edits.truncated(item, 5, 5), 100) for item in recent]
    made = [edits.cleared(item) if item.message.role == "tool" else edits.merged(item, "m", of=old) for item in made]
    plan = view.becomes([summary, *made], "shorter")
    view.after(plan)
    plan.fates(view)

    assert (view.log, view.input) == before


def test_a_plan_is_made_of_any_iterable_of_items() -> None:
    view = view_of(U1, A1)

    assert isinstance(view.becomes((item for item in view.input), "same"), Plan)
    assert view.becomes(iter(view.input), "same").input == view.input[:]
