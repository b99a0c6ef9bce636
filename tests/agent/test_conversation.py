from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.tokens import CharsCounter, Measure
from tests.benchmarks.token_figure import LIMIT, SESSIONS, Course, calls

AROUND = Surroundings(model=ModelLimits(name="m"))


def billed(tokens_a_message: int, rounds: int = 40) -> Conversation:
    """A conversation whose provider bills each message, 200 tokens by estimate, at so many tokens."""
    talk = Conversation(Measure(CharsCounter()), lambda: datetime(2026, 4, 12, tzinfo=UTC))
    for number in range(rounds):
        talk.add(Message.user("x" * 784))
        sent = tokens_a_message * (2 * number + 1)
        talk.add_reply(replace(Message.assistant("y" * 784), usage=Usage(sent, tokens_a_message)))
    return talk


def test_estimates_follow_what_bills_have_grown_by() -> None:
    assert billed(200).view("request", AROUND).scale == 1.0
    talk = billed(260)
    assert 1.2 < talk.view("request", AROUND).scale <= 1.3
    talk.add(Message.user("z" * 784))
    assert 240 < talk.view("request", AROUND).figure.estimated <= 260


def test_a_list_that_was_cut_is_figured_near_what_will_be_billed() -> None:
    talk = billed(260)
    view = talk.view("request", AROUND)
    talk.commit(view, view.becomes(view.input[-10:], "cut"))
    assert talk.view("request", AROUND).tokens == pytest.approx(2_600, rel=0.35)
    assert replace(view, scale=1.0).tokens_of(view.input[-10:]) > 6_000


def test_a_bill_for_a_changed_list_teaches_nothing() -> None:
    talk = billed(260)
    view, learnt = talk.view("request", AROUND), talk.calibration
    talk.commit(view, view.becomes(view.input[-10:], "cut"))
    talk.add(Message.user("z" * 784))
    talk.add_reply(replace(Message.assistant("y"), usage=Usage(90_000, 1)))
    assert talk.calibration == learnt


@pytest.mark.parametrize("session", SESSIONS)
def test_figure_of_a_billed_session_is_within_one_percent_of_its_bills(session: str, data: Path) -> None:
    course = Course(session, "characters/4", list(calls(data / "pi_sessions" / f"{session}.jsonl", CharsCounter())))
    apart = sorted(abs(call.figure / call.bill - 1) for call in course.billed)
    assert abs(course.off) <= LIMIT
    assert apart[len(apart) * 95 // 100] <= LIMIT
