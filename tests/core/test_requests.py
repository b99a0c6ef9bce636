from __future__ import annotations

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.requests import ASSUMED_CHARS, Ask, Consult, Count, Evict, Failure, Reply, Request, Unknown, assume

QUESTION = (Message.user("Summarise."),)


def test_an_answer_that_nobody_gave_has_the_length_that_was_stated_and_says_what_it_is() -> None:
    for chars in (ASSUMED_CHARS, 100, 81, 5, 0):
        reply = assume(Ask(purpose="summary", messages=QUESTION, assumed_chars=chars))
        assert (len(reply.text), reply.assumed, reply.failure) == (chars, True, None)
    assert assume(Ask(purpose="summary", messages=QUESTION)).text.startswith("[assumed: about 2,000 characters")


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (Evict(index=3, call_id="c1", text="x"), "large_tool_results/c1.txt"),
        (Evict(index=3, call_id="", text="x"), "large_tool_results/result.txt"),
        (Count(messages=QUESTION), ""),
        (Consult(question="pre_compact"), ""),
    ],
)
def test_every_kind_of_request_has_an_assumed_reply_that_says_so(request_: Request, text: str) -> None:
    reply = assume(request_)

    assert (reply.text, reply.assumed) == (text, True)


def test_only_a_count_counts_as_failed_when_nobody_was_asked() -> None:
    assert assume(Count(messages=QUESTION)).failure == Failure("error", "not counted in a preview")
    assert assume(Consult(question="pre_compact")).failure is None


def test_equal_requests_are_one_and_nth_tells_repeats_apart() -> None:
    one, same = (Ask(purpose="summary", messages=(Message.user("Summarise."),)) for _ in range(2))
    other = Ask(purpose="summary", messages=QUESTION, nth=1)

    assert {one: 1}[same] == 1
    assert one != other
    assert len({one, same, other}) == 2


def test_a_reply_that_is_no_text_has_an_empty_one() -> None:
    assert (Reply(42).text, Reply(None).text, Reply("x").text) == ("", "", "x")


def test_the_signal_of_an_unknown_reply_carries_the_request() -> None:
    request = Consult(question="pre_compact")

    assert Unknown(request).request is request
