from __future__ import annotations

import asyncio

import pytest

from harness_nb.core.edits import summary
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Failure, Reply, Unknown
from harness_nb.core.view import View
from harness_nb.errors import HarnessError, ModelError
from harness_nb.lab.adapters.theirs import NotKnown, TheirPolicy, asked, at_once, relisted, stood_for
from tests.lab.adapters.talks import transcript

VIEW = View.of(transcript(6))
ASKING = [Message.user("sum it up")]


def test_theirs_acts_at_its_trigger_and_when_told_to() -> None:
    calls: list[View] = []
    policy = TheirPolicy("theirs", lambda view: calls.append(view) or view.input[-2:], trigger_tokens=10**6)
    assert not policy.plan(VIEW).changes and not calls
    assert policy.plan(View.of(transcript(6), hook="manual")).changes and len(calls) == 1
    always = TheirPolicy("theirs", lambda view: None, trigger_tokens=None)
    assert always.plan(VIEW).reason == "theirs leaves the list as it is"


def test_a_reply_that_is_not_known_ends_the_attempt_also_through_code_that_catches_exceptions() -> None:
    def made(view: View) -> list[Item]:
        try:
            asked(view, ASKING)
        except Exception:  # noqa: BLE001 - as a retry of theirs would
            pytest.fail("caught")
        return []

    with pytest.raises(Unknown) as caught:
        TheirPolicy("theirs", made, trigger_tokens=None).plan(View.of(transcript(2), strict=True))
    assert caught.value.request == Ask(purpose="summary", messages=tuple(ASKING))


def test_a_reply_that_failed_is_an_error() -> None:
    request = Ask(purpose="summary", messages=tuple(ASKING))
    with pytest.raises(ModelError, match="went away"):
        asked(VIEW.learn(request, Reply(None, Failure("connection", "went away"))), ASKING)
    assert asked(VIEW.learn(request, Reply("short")), ASKING) == "short"
    with pytest.raises(NotKnown):
        asked(View.of(transcript(2), strict=True), ASKING)


def test_the_text_stands_for_what_is_old_and_the_latest_request_stays() -> None:
    items = stood_for(VIEW, 3, lambda old: f"{len(old)} messages", "note")
    assert items is not None and items[0].message.text == f"{len(VIEW.input) - 3} messages"
    assert items[1:] == VIEW.input[-3:] and items[0].stands_for == tuple(range(1, len(VIEW.log) - 3))
    assert stood_for(VIEW, 3, lambda old: None, "note") is None
    made = ModelInput([summary(Reply("earlier"), of=VIEW.input[:4]), *VIEW.input[-1:]])
    assert stood_for(View(log=VIEW.log, input=made), 1, lambda old: "again", "note") is None


def test_a_list_of_theirs_is_told_by_what_stays_what_changed_and_what_is_new() -> None:
    first, *_, last = VIEW.input
    shorter = last.message.with_text("And?")
    new = Message.user("what was said", origin="harness")
    items = relisted(VIEW, [(None, new), (0, first.message), (len(VIEW.input) - 1, shorter)], "summary")
    assert [item.how for item in items] == ["summary", "kept", "truncated"]
    assert items[1] is first and items[2].index == last.index
    assert items[0].stands_for == tuple(range(2, len(VIEW.log) - 1))


def test_a_coroutine_that_waits_is_refused() -> None:
    async def waits() -> int:
        await asyncio.sleep(0)
        return 1

    async def is_ready() -> int:
        return 2

    assert at_once(is_ready()) == 2
    with pytest.raises(HarnessError, match="waits for something outside"):
        at_once(waits())
