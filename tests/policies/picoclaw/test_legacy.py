from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.requests import Reply
from harness_nb.core.view import View
from harness_nb.policies.picoclaw.config import LegacyConfig
from harness_nb.policies.picoclaw.legacy import LegacyPolicy
from tests.policies.picoclaw.talks import BROKEN, OK, chat, grown, indices, loop, planned, view_of


def policy(**settings: Any) -> LegacyPolicy:
    return LegacyPolicy(LegacyConfig(**settings))


def text_of(view: View, *replies: Reply, **settings: Any) -> str:
    plan, _ = planned(policy(**settings), view, *replies)
    assert plan.input is not None
    return policy().text_of(plan.input[0])


# When


def test_it_acts_above_twenty_messages_or_three_quarters_of_the_window() -> None:
    assert not planned(policy(), view_of(chat(10)))[0].changes
    assert planned(policy(), view_of(chat(11)))[0].changes
    assert not planned(policy(), view_of(chat(3, 1_238), window=4_000))[0].changes
    assert planned(policy(), view_of(chat(3, 1_241), window=4_000))[0].changes


def test_somebody_may_ask_for_it_at_any_time() -> None:
    plan, asked = planned(policy(), view_of(chat(4), hook="manual", words="the names"))
    assert plan.changes and "the names" in asked[0].messages[0].text


def test_a_single_turn_or_four_messages_are_left_alone() -> None:
    assert not planned(policy(), view_of(loop(15)))[0].changes
    assert not planned(policy(), view_of(chat(2), hook="manual"))[0].changes


# What


def test_at_least_four_messages_stay_in_whole_turns() -> None:
    plan, _ = planned(policy(), view_of([*chat(10), *loop(3)]))
    assert plan.input is not None
    assert indices(plan.input) == [None, *range(20, 27)]
    assert plan.input[0].stands_for == tuple(range(20))
    assert plan.input[0].message.role == "system"


def test_up_to_ten_messages_are_one_request_that_shows_the_earlier_summary() -> None:
    view = view_of(chat(11))
    first, _ = planned(policy(), view)
    again = grown(view, first, *loop(10), *chat(2))
    plan, asked = planned(policy(split_above=20), again)
    assert len(asked) == 1 and plan.input is not None
    assert "<previous_summary>\nwhat a model wrote" in asked[0].messages[0].text
    assert asked[0].shown == (18, 19, 20, 21, 22, *range(23, 42, 2))


def test_more_are_two_halves_and_a_merge_that_forget_the_earlier_summary() -> None:
    view = view_of(chat(11))
    first, asked = planned(policy(), view)
    assert [one.purpose for one in asked] == ["summary", "summary", "merge"]
    assert [one.shown for one in asked[:2]] == [tuple(range(8)), tuple(range(8, 18))]
    again = grown(view, first, *chat(11)[4:])
    _, more = planned(policy(), again)
    assert not any("previous_summary" in one.messages[0].text for one in more)
    _, kept = planned(policy(carries_summary=True), again)
    assert "previous_summary" in kept[0].messages[0].text


def test_a_first_half_may_be_empty() -> None:
    said = [Message.user("all of it"), *[Message.assistant("on it")] * 20, *chat(2)]
    _, asked = planned(policy(), view_of(said))
    assert [one.shown for one in asked[:2]] == [(), tuple(range(21))]


def test_results_are_not_shown() -> None:
    _, asked = planned(policy(), view_of([*loop(10), *chat(2)]))
    assert asked[1].shown == (0, *range(1, 20, 2))


def test_messages_that_are_too_long_in_bytes_are_left_out_and_mentioned() -> None:
    said = [Message.user("问" * 700), *chat(11)[1:]]
    view = view_of(said, window=2_000)
    assert policy().material(view).oversized[0].index == 0
    assert text_of(view) == f"what a model wrote\n{policy().omitted_note}"
    assert policy().material(view_of(said, window=3_000)).oversized == ()


# Failures


def test_excerpts_take_the_place_of_summaries_that_failed() -> None:
    plan, _ = planned(policy(), view_of(chat(11, 250)), BROKEN)
    assert plan.input is not None and plan.input[0].failed
    text = policy().text_of(plan.input[0])
    assert text.startswith("Conversation summary: user: q0 xxx")
    assert text.count(" | ") == 16 and text.count("...") == 18


def test_a_long_message_has_a_tenth_in_the_excerpt() -> None:
    text = text_of(view_of([Message.user("z" * 5_000), *chat(11)[1:]]), BROKEN)
    assert text.count("z") == 500


def test_halves_are_joined_when_the_merge_fails() -> None:
    assert text_of(view_of(chat(11)), Reply("first "), Reply("second"), BROKEN) == "first second"


def test_an_empty_summary_replaces_nothing() -> None:
    plan, _ = planned(policy(split_above=30), view_of(chat(11)), Reply(" "))
    assert (plan.changes, plan.outcome) == (False, "failed")


# Force


def forced(messages: list[Message]) -> list[int | None]:
    plan = policy().force(view_of(messages))
    return indices(plan.items(view_of(messages)))


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (chat(1), [0, 1]),
        (chat(4), [None, 4, 5, 6, 7]),
        (chat(5), [None, 4, 5, 6, 7, 8, 9]),
        (loop(3), [None, 0]),
        ([Message.assistant(str(at)) for at in range(7)], [None, 3, 4, 5, 6]),
    ],
    ids=["two", "even", "odd", "one turn", "no user"],
)
def test_the_older_half_of_the_turns_is_dropped(messages: list[Message], left: list[int | None]) -> None:
    assert forced(messages) == left


def test_each_time_a_note_says_how_many_were_dropped() -> None:
    view = view_of(chat(11))
    first, _ = planned(policy(), view, OK)
    again = grown(view, first, *chat(2))
    plan = policy().force(again)
    assert plan.input is not None
    assert policy().text_of(plan.input[0]) == f"what a model wrote\n\n{policy().dropped_note.replace('{count}', '4')}"
    assert plan.input[0].stands_for == (*range(18), 18, 19, 20, 21)
