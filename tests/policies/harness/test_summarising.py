from __future__ import annotations

from dataclasses import replace

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Failure, Reply, Request
from tests.policies.harness.viewing import answered, asked, policy, talk, view_of

COMPACTING = policy(trigger_messages=6, keep_messages=2)
VIEW = view_of(talk(5, chars=400))
OVERFLOW = Reply(None, Failure("overflow", "too long"))


def said(request: Request) -> str:
    assert isinstance(request, Ask)
    return request.messages[0].text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(""), "the reply was blank"),
        (Reply("<think>What shall I write?</think>"), "the reply was blank"),
        (Reply("<think>never closed"), "the reply was blank"),
        (Reply("It began well and", finish="length"), "the reply was cut at its limit of length"),
        (Reply("It began well and", finish="max_tokens"), "the reply was cut at its limit of length"),
        (Reply("word " * 1_000), "inflated: the summary is 1,250 tokens and what it stands for 832"),
    ],
)
def test_r015_a_summary_that_is_no_use_is_asked_for_once_more_in_stricter_words(reply: Reply, why: str) -> None:
    requests: list[Request] = []
    plan = answered(COMPACTING, VIEW, reply, Reply("## SUMMARY\nshort"), requests=requests)
    first, second = map(said, requests)
    assert second.startswith(first) and why in second and "249 words" in second
    assert plan.changes and "## SUMMARY\nshort" in plan.items(VIEW)[0].message.text
    refused = answered(COMPACTING, VIEW, reply, requests=requests)
    assert not refused.changes and refused.outcome == "failed" and len(requests) == 4
    assert refused.reason == f"the summary failed: {why}, also the second time"


def test_a_model_that_failed_is_not_asked_again_in_other_words() -> None:
    requests: list[Request] = []
    plan = answered(COMPACTING, VIEW, Reply(None, Failure("server_error", "500")), requests=requests)
    assert len(requests) == 1 and plan.reason == "the summary failed: 500"


def test_reasoning_in_front_of_a_summary_is_left_out() -> None:
    plan = answered(COMPACTING, VIEW, Reply("<think>hm</think>\n## SUMMARY\nshort"))
    assert "hm" not in plan.items(VIEW)[0].message.text and "## SUMMARY" in plan.items(VIEW)[0].message.text


def test_what_is_too_long_for_one_request_is_summarised_in_parts_each_with_the_summary_so_far() -> None:
    view = view_of(talk(20, chars=1_000), model=ModelLimits(name="m", window=4_000))
    requests: list[Request] = []
    compacting = policy(trigger_messages=6, keep_messages=2)
    plan = answered(compacting, view, *(Reply(f"summary {at}") for at in range(9)), requests=requests)
    assert len(requests) > 2 and "summarised in" in plan.reason
    shown = [index for request in requests if isinstance(request, Ask) for index in request.shown]
    assert shown == list(plan.items(view)[0].stands_for)  # each message once, in order
    assert all(len(said(request)) < 8_000 + 2_500 for request in requests)
    for at, request in enumerate(requests[1:]):
        assert f"<previous_summary>\nsummary {at}\n</previous_summary>" in said(request)
    assert f"summary {len(requests) - 1}" in plan.items(view)[0].message.text


def test_a_part_that_fails_fails_all_of_it() -> None:
    view = view_of(talk(20, chars=1_000), model=ModelLimits(name="m", window=4_000))
    replies = (Reply("summary 0"), Reply(None, Failure("timeout", "late")))
    plan = answered(policy(trigger_messages=6, keep_messages=2, fallback="never"), view, *replies)
    assert not plan.changes and plan.reason == "the summary failed: late"


def test_where_the_summarisers_own_input_is_too_long_smaller_parts_are_tried() -> None:
    view = view_of(talk(20, chars=1_000), model=ModelLimits(name="m", window=16_000))
    requests: list[Request] = []
    plan = answered(COMPACTING, view, OVERFLOW, Reply("short"), requests=requests)
    assert plan.changes and len(requests) == 3  # the whole is refused, then two halves
    never: list[Request] = []
    assert "the summary failed: too long" in answered(COMPACTING, view, OVERFLOW, requests=never).reason
    assert len(never) == 4


def test_another_model_writes_the_summary_where_one_is_named() -> None:
    assert asked(policy(trigger_messages=6, keep_messages=2, summary_model="small"), VIEW).model == "small"
    assert asked(COMPACTING, VIEW).model is None


def test_what_a_manual_call_says_is_a_wish_for_the_summary() -> None:
    request = asked(policy(keep_messages=2), replace(VIEW, hook="manual", words="keep all figures"))
    assert "<wishes>\nkeep all figures\n</wishes>" in said(request)


@pytest.mark.parametrize(("fallback", "elides"), [("always", True), ("overflow", False), ("never", False)])
def test_r017_a_note_in_place_of_a_summary_says_that_it_is_none_and_why(fallback: str, elides: bool) -> None:
    plan = answered(policy(trigger_messages=6, keep_messages=2, fallback=fallback), VIEW, Reply(""))
    assert plan.changes is elides
    if elides:
        note = plan.items(VIEW)[0]
        assert (plan.outcome, note.how, note.stands_for) == ("elided", "note", tuple(range(8)))
        assert "8 earlier message(s) are not shown here and no summary stands for them" in note.message.text
        assert "the reply was blank" in note.message.text and "no summary: the reply was blank" in plan.reason
        assert not any(message.text in note.message.text for message in VIEW.log)


def test_r017_after_an_overflow_a_note_saves_the_turn_and_an_earlier_summary_stays() -> None:
    first = VIEW.after(answered(COMPACTING, VIEW, Reply("what was before")))
    more = talk(3, chars=400)
    log = first.log.append(*more)
    items = first.input.append(*(type(first.input[0])(10 + at, message) for at, message in enumerate(more)))
    refused = replace(first, log=log, input=items, hook="overflow", turn=len(log))
    plan = answered(COMPACTING, refused, Reply(None, Failure("timeout", "late")))
    kinds = [item.how for item in plan.items(refused)]
    assert kinds[:2] == ["summary", "note"] and set(kinds[2:]) == {"kept"}
    assert "what was before" in plan.items(refused)[0].message.text


def test_in_a_preview_the_assumed_summary_is_taken_whatever_its_length() -> None:
    view = view_of([*talk(3), Message.user("now")])
    assert policy(trigger_messages=6, keep_messages=2).plan(view).changes
