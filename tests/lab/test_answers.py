from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace as again
from pathlib import Path

import pytest

from harness_nb import replay
from harness_nb.agent.driver import Leaving
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Consult, Evict
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ContextOverflowError, HarnessError, QuotaError, RateLimitError
from harness_nb.lab.answers import Answers
from harness_nb.model.base import Delta, ModelRequest
from harness_nb.model.offline import OfflineModel
from harness_nb.store.workspace import Workspace


class Told:
    """A model that gives its answers in turn; an error is raised."""

    limits = ModelLimits(name="told")

    def __init__(self, *answers: str | HarnessError) -> None:
        self.answers = list(answers)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Message]:
        answer = self.answers.pop(0)
        if isinstance(answer, HarnessError):
            raise answer
        yield Message.assistant(answer, finish="stop")


ASK = Ask(purpose="summary", messages=(Message.user("The key of the lab is kept by Zoë."),), attempts=2)


def test_a_model_call_is_answered_by_the_model() -> None:
    reply = Answers(Told("So far."))(ASK)
    assert (reply.text, reply.assumed, reply.finish) == ("So far.", False, "stop")


def test_the_built_in_model_answers_at_once() -> None:
    assert "Zoë" in Answers(OfflineModel())(ASK).text


def test_without_a_model_replies_are_assumed() -> None:
    assert Answers()(ASK).assumed


def test_what_is_no_model_call_is_answered_as_an_agent_would_and_messages_may_leave(workspace: Path) -> None:
    answers = Answers(Told())
    filed = Workspace(workspace).evict("agent", "c1", "x")
    assert answers(Evict(index=0, call_id="c1", text="x")).value == filed
    assert answers(Consult(question="pre_compact")).failure.detail == "nobody answers a Consult here"
    assert answers(Leaving(View.of(Transcript()), (0,))) is None


def test_without_a_model_all_is_assumed() -> None:
    assert Answers()(Evict(index=0, call_id="c1", text="x")).assumed
    assert Answers()(Consult(question="pre_compact")).failure is None


def test_an_attempt_that_fails_is_tried_again_as_often_as_the_request_says() -> None:
    model = Told(RateLimitError("Too fast."), "So far.")
    assert Answers(model)(ASK).text == "So far."
    assert Answers(Told(RateLimitError("Too fast."), RateLimitError("Still."), "late"))(ASK).failure.detail == "Still."


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ContextOverflowError("Too long."), "overflow"), (QuotaError("No credit."), "quota")],
)
def test_an_error_that_stays_is_not_tried_again(error: HarnessError, kind: str) -> None:
    model = Told(error, "late")
    assert Answers(model)(ASK).failure.kind == kind
    assert model.answers == ["late"]


def test_a_blank_reply_fails_where_the_request_says_so() -> None:
    ask = Ask(purpose="summary", messages=ASK.messages, blank_fails=True)
    assert Answers(Told(" "))(ask).failure.kind == "blank"
    assert Answers(Told(" "))(ASK).failure is None


def test_the_offline_model_is_asked_once_for_equal_requests() -> None:
    class Counted(OfflineModel):
        asked = 0

        async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
            Counted.asked += 1
            async for piece in super().stream(request):
                yield piece

    answers = Answers(Counted())
    texts = ("Ada measured 4 kg.", "Ben measured 5 kg.")
    first, other = (Ask(purpose="summary", messages=(Message.user(text),)) for text in texts)
    replies = [answers(one) for one in (first, again(first, nth=1), other)]
    assert replies[0] == replies[1] != replies[2] and Counted.asked == 2


def test_what_the_offline_model_answers_while_a_plan_is_made_is_what_it_answers_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [
        make(f"Sample {at} weighs {at * 7} kg. " * 12) for at in range(40) for make in (Message.user, Message.assistant)
    ]

    def told() -> list[object]:
        run = replay(Transcript(said), "openclaw", window=24_000, model="offline")
        return [(one.plan.input, one.outcome, one.asked) for one in run.plans]

    whole = told()
    monkeypatch.setattr(Answers, "at_once", Answers.__call__)
    assert whole and whole == told() and any(asked for *_, asked in whole)  # type: ignore[misc]  # three of each
