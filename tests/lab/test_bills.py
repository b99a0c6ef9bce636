from __future__ import annotations

from datetime import UTC, datetime

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.lab.bills import LARGEST_FACTOR, Bills

AROUND = Surroundings(model=ModelLimits(name="m"))


def conversation() -> Conversation:
    talk = Conversation(Measure(CharsCounter()), lambda: datetime(2026, 4, 12, tzinfo=UTC))
    talk.begin_turn(Message.user("x" * 4_000))
    return talk


def reply(input_tokens: int) -> Message:
    return Message.assistant("Yes.", usage=Usage(input_tokens, 10))


def test_a_bill_counts_as_long_as_the_list_is_the_recorded_one() -> None:
    talk, bills = conversation(), Bills()
    for billed in (1_200, 1_300, 1_310):
        bills.take(talk, reply(billed), AROUND, figure=9_999)
        assert talk.view("request", AROUND).tokens == billed + 10
    assert talk.scale == 1.0


def test_a_bill_that_drops_is_of_a_list_that_the_recorded_system_cut() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(1_200), AROUND, figure=1_004)
    bills.take(talk, reply(300), AROUND, figure=1_215)
    view = talk.view("request", AROUND)
    assert (view.usage, view.billed) == (None, 0)
    assert talk.scale == 1_210 / (1_004 + 5)  # bill over estimate, as last seen: 4,000 / 4 + 4 and 1 + 4 tokens
    assert view.tokens == round((1_004 + 5 + 5) * talk.scale)


def test_after_a_change_a_bill_of_the_recorded_list_does_not_count_however_near_it_is() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(1_200), AROUND, figure=1_004)
    bills.changed()
    bills.take(talk, reply(1_211), AROUND, figure=1_100)  # 1,210 and a little more: what the recorded list would be
    assert talk.usage is None


def test_after_a_change_a_bill_of_the_replayed_list_counts() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(1_200), AROUND, figure=1_004)
    bills.changed()
    bills.take(talk, reply(580), AROUND, figure=640)  # the recorded system changed its list as the policy did
    assert talk.usage == Usage(580, 10)
    bills.take(talk, reply(700), AROUND, figure=9_999)
    assert talk.usage == Usage(700, 10)


def test_the_factor_is_bounded_as_prompts_and_schemas_may_not_be_recorded() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(90_000), AROUND, figure=1_004)
    bills.take(talk, reply(10), AROUND, figure=90_000)
    assert talk.scale == LARGEST_FACTOR


def test_a_reply_without_a_bill_leaves_the_last_one_in_force() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(1_200), AROUND, figure=1_004)
    bills.take(talk, Message.assistant("x" * 40), AROUND, figure=1_215)
    assert talk.view("request", AROUND).tokens == 1_210 + 14


def test_a_bill_of_a_list_for_one_request_says_nothing_of_the_sessions_own() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(1_200), AROUND, figure=1_004)
    talk.next_input = talk.input
    bills.take(talk, reply(300), AROUND, figure=1_215)
    assert (talk.usage, talk.billed) == (Usage(1_200, 10), 2)
    bills.take(talk, reply(1_230), AROUND, figure=1_215)
    assert talk.usage == Usage(1_230, 10)


def test_after_a_change_that_gained_next_to_nothing_a_bill_that_fits_both_lists_counts() -> None:
    talk, bills = conversation(), Bills()
    bills.take(talk, reply(58_000), AROUND, figure=58_000)
    bills.changed()
    bills.take(talk, reply(58_100), AROUND, figure=58_300)  # 58,015 and a little more, were the list the recorded one
    assert talk.usage == Usage(58_100, 10)
