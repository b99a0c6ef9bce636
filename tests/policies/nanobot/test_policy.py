"""Nanobot's policy: when it archives, how much, and what is replayed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.archive import RAW_MARK
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Failure, Reply
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.record import NanobotRecord
from tests.policies.nanobot.talks import HEAD, answered, calls, chat, policy, view_of
from tests.strategies import transcripts

FACT = Reply("[durable] a fact", finish="stop")
BROKEN = Reply(None, Failure("server_error", "boom"))
VARIANTS: list[dict[str, Any]] = [{}, HEAD]


def shown(plan: Plan, view: View) -> list[int | None]:
    return [item.index for item in plan.items(view)]


def upto(plan: Plan) -> int:
    assert isinstance(plan.state, NanobotRecord)
    return plan.state.archived


# When


@pytest.mark.parametrize("settings", VARIANTS)
def test_it_acts_at_the_budget_and_not_one_token_below(settings: dict[str, Any]) -> None:
    made = policy(**settings)
    size = made.estimate(view_of(chat(10, 100), 100_000), NanobotRecord())
    at, below = size + 1_000 + 1_024, size + 1_000 + 1_024 + 1
    assert made.standing(view_of(chat(10, 100), at)).boundary is not None
    assert made.standing(view_of(chat(10, 100), below)).boundary is None


def test_a_window_of_none_and_an_empty_session_are_left_alone() -> None:
    assert policy(context_window=0).plan(view_of(chat(10, 5_000), 8_000)).remember == ()
    assert policy().plan(view_of([], 2_100)).outcome == "unchanged"


def test_without_a_tokenizer_the_whole_prompt_counts_nothing() -> None:
    assert policy(estimator="missing").plan(view_of(chat(30, 5_000), 8_000)).remember == ()


def test_a_session_without_a_later_request_of_the_user_can_t_be_cut() -> None:
    said = [Message.user("go"), *calls("look", *["x" * 500] * 20)]
    standing = policy().standing(view_of(said, 8_000))
    assert standing.boundary is not None
    assert standing.boundary.index is None


# How much


@pytest.mark.parametrize("settings", VARIANTS)
def test_the_first_request_of_the_user_before_which_enough_leaves_ends_the_chunk(settings: dict[str, Any]) -> None:
    made, view = policy(**settings), view_of(chat(20, 300), 12_000)
    boundary = made.standing(view).boundary
    assert boundary is not None
    assert boundary.index is not None
    assert boundary.removed is not None
    assert view.log[boundary.index].role == "user"
    assert boundary.need <= boundary.removed < boundary.need + 2 * 304


def test_the_chunk_leaves_and_the_rest_is_replayed() -> None:
    view = view_of(chat(20, 300), 12_000)
    plan, asked = answered(policy(), view, FACT)
    assert plan.remember == ("[durable] a fact",)
    assert plan.again
    assert shown(plan, view) == list(range(upto(plan), 41))
    assert asked[0].shown == tuple(range(upto(plan)))


def test_head_replays_the_last_eight_even_where_they_are_archived() -> None:
    state = NanobotRecord(archived=18)
    view = view_of(chat(10, 20), 100_000, state=state)
    assert shown(policy(**HEAD).plan(view), view) == list(range(12, 21))
    assert shown(policy().plan(view), view) == [18, 19, 20]


def test_messages_outside_july_s_window_are_archived_whatever_their_size() -> None:
    view = view_of(chat(61, 5), 100_000)
    plan, _ = answered(policy(replay_max_messages=120), view, FACT)
    assert (upto(plan), plan.outcome) == (2, "windowed")
    assert policy(**HEAD).plan(view).remember == ()


def test_five_rounds_are_the_most() -> None:
    done = tuple(Plan(outcome="archived", remember=("x",)) for _ in range(5))
    assert policy().standing(view_of(chat(60, 900), 12_000, done=done)).boundary is None


def test_what_was_archived_in_this_call_counts_as_part_of_the_prompt() -> None:
    view = view_of(chat(4, 50), 100_000)
    more = replace(view, done=(Plan(outcome="archived", remember=("f" * 500,)),))
    before, after = (policy().estimate(one, NanobotRecord()) for one in (view, more))
    assert 500 < after - before < 600


# Replies


def test_a_failed_call_dumps_the_chunk_and_ends_the_check() -> None:
    view = view_of(chat(20, 300), 12_000)
    for settings in VARIANTS:
        plan, _ = answered(policy(**settings), view, BROKEN)
        assert plan.remember[0].startswith(f"{RAW_MARK}{upto(plan)} messages\n")
        assert plan.items(view)[0].failed
        assert policy(**settings).standing(replace(view, state=plan.state, done=(plan,))).boundary is None


@pytest.mark.parametrize(
    ("reply", "july"),
    [(Reply("half of it", finish="length"), "half of it"), (Reply("", finish="tool_calls"), "[no summary]")],
)
def test_head_refuses_replies_that_july_takes(reply: Reply, july: str) -> None:
    view = view_of(chat(20, 300), 12_000)
    assert answered(policy(), view, reply)[0].remember == (july,)
    assert answered(policy(**HEAD), view, reply)[0].remember[0].startswith(RAW_MARK)


def test_head_archives_nothing_for_the_word_that_there_is_nothing() -> None:
    view = view_of(chat(20, 300), 12_000)
    assert answered(policy(**HEAD), view, Reply("(nothing)\n"))[0].remember == ()
    assert answered(policy(), view, Reply("(nothing)\n"))[0].remember == ("(nothing)\n",)


# Requests


def test_july_shows_rendered_rows_cut_to_the_budget() -> None:
    view = view_of([*chat(1, 40_000), *chat(3, 20)], 12_000)
    _, asked = answered(policy(), view, FACT)
    text = asked[0].messages[-1].text
    assert text.startswith("[2026-07-20T12:00] USER: u0")
    assert len(text) == 12_000 - 1_000 - 1_024


def test_head_shows_the_conversation_itself_and_an_instruction() -> None:
    view = view_of(chat(20, 300), 12_000, system="Be careful.")
    _, asked = answered(policy(**HEAD, instruction="Note the last {n}."), view, FACT)
    messages = asked[0].messages
    assert messages[0].text.startswith("Be careful.")
    assert messages[1:-1] == view.log[: len(messages) - 2]
    assert messages[-1].text == f"Note the last {len(messages) - 2}."


def test_head_dumps_a_chunk_that_does_not_fit_a_request_without_a_call() -> None:
    view = view_of([*chat(1, 40_000), *chat(3, 20)], 12_000)
    plan, asked = answered(policy(**HEAD), view, FACT)
    assert asked == []
    assert plan.remember[0].startswith(RAW_MARK)


# Idle, new and capped


def test_an_idle_session_is_archived_whole_by_head_and_cut_down_by_july() -> None:
    later = {"hook": "idle", "now": view_of([], 1).now + timedelta(minutes=15)}
    view = view_of(chat(10, 30), 60_000, **later)
    plan, asked = answered(policy(**HEAD), view, FACT)
    assert (upto(plan), asked[0].shown) == (21, tuple(range(21)))
    plan, asked = answered(policy(), view, FACT)
    assert plan.state == NanobotRecord(begins=12, archived=12)
    assert asked[0].shown == tuple(range(21))
    early = replace(view, now=view.now - timedelta(seconds=1))
    assert policy().plan(early).remember == ()


def test_a_turn_after_a_pause_sees_to_it_first() -> None:
    said = chat(10, 30)
    view = view_of(said, 60_000, now=view_of([], 1).now + timedelta(hours=1))
    plan, _ = answered(policy(**HEAD), view, FACT)
    assert (plan.outcome, plan.again, upto(plan)) == ("idle", True, 20)
    assert policy(**HEAD, idle_at_turn=False).plan(view).remember == ()


def test_a_new_session_archives_the_rest_and_begins_empty() -> None:
    view = view_of(chat(5, 30), 60_000, hook="new", state=NanobotRecord(archived=4))
    plan, asked = answered(policy(), view, FACT)
    assert asked[0].shown == tuple(range(4, 11))
    assert (plan.items(view), plan.state) == ((), NanobotRecord(begins=11, archived=11))


def test_what_is_above_the_cap_of_a_session_is_dumped_after_the_turn() -> None:
    view = view_of(chat(6, 10), 60_000, hook="end")
    plan = policy(session_file_cap=8).plan(view)
    assert plan.outcome == "capped"
    assert plan.state == NanobotRecord(begins=6, archived=6)
    assert plan.remember[0].startswith(f"{RAW_MARK}6 messages")


# Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"consolidation_ratio": 0.05},
        {"consolidation_ratio": 0.96},
        {"estimator": "chars"},
        {"request_form": "voice"},
        {"max_rounds": 0},
        {"replay_max_messages": -1},
        {"strict_replies": 1},
        {"instruction": 5},
    ],
)
def test_settings_that_are_not_valid_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        NanobotConfig(**wrong)
    assert next(iter(wrong)) in str(refused.value)


def test_july_s_replay_window_follows_the_context_window() -> None:
    config = NanobotConfig()
    assert [config.replay_messages(window) for window in (0, 4_000, 46_000, 999_000)] == [2_000, 120, 460, 2_000]
    assert NanobotConfig(replay_max_messages=0).replay_messages(46_000) == 0
    assert config.budget(200_000) == 190_784
    assert config.target(200_000) == 95_392


@given(transcripts(), st.sampled_from(VARIANTS), st.integers(2_100, 20_000))
def test_a_plan_on_assumptions_is_always_complete_and_names_only_what_was_said(
    transcript: Any, settings: dict[str, Any], window: int
) -> None:
    view = View.of(transcript, hook="turn", model=ModelLimits(name="m", window=window))
    plan = policy(**settings).plan(view)
    assert all(item.index is None or 0 <= item.index < len(view.log) for item in plan.items(view))


@pytest.mark.parametrize("hook", ["manual", "overflow"])
def test_a_user_and_a_refused_request_make_a_round_whatever_was_measured(hook: Any) -> None:
    view = view_of(chat(10, 30), 60_000, hook=hook)
    plan, _ = answered(policy(), view, FACT)
    assert plan.remember == ("[durable] a fact",)
    assert upto(plan) > 0
    assert policy().standing(replace(view, state=plan.state, done=(plan,))).boundary is None
