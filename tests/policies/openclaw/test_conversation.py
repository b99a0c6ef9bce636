from __future__ import annotations

import pytest

from harness_nb.core.messages import Image, Message, Text
from harness_nb.policies.openclaw.conversation import has_conversation, is_silent, repaired
from tests.policies.openclaw.talks import called, items, result

PICTURE = Image("data:x", '{"type":"image_url","image_url":{"url":"data:x"}}')


@pytest.mark.parametrize(
    "text", ["NO_REPLY", " no_reply no_reply ", "**NO_REPLY**", "HEARTBEAT_OK", "<b>HEARTBEAT_OK</b>"]
)
def test_tokens_of_silence_are_no_conversation(text: str) -> None:
    assert not has_conversation(items([Message.assistant(text)]))


@pytest.mark.parametrize("text", ["hello", "HEARTBEAT_OK but the disk is full", "NO_REPLY needed?"])
def test_anything_else_is(text: str) -> None:
    assert has_conversation(items([Message.assistant(text)]))


def test_a_picture_is_conversation_and_a_call_is_not() -> None:
    assert has_conversation(items([Message.user([PICTURE])]))
    assert not has_conversation(items([called("c")]))


def test_a_result_is_conversation_only_near_a_request() -> None:
    loop = [one for at in range(11) for one in (called(f"c{at}"), result(f"c{at}", 5))]
    assert has_conversation(items([Message.user("go"), *loop])[1:3]) is False
    assert has_conversation(items([Message.user("go"), *loop[:2]]))
    assert not has_conversation(items([Message.user("NO_REPLY"), *loop]))


def test_blank_requests_become_a_short_text_and_blank_parts_go() -> None:
    blank, mixed, whole = repaired(items([Message.user("  "), Message.user([Text(" "), PICTURE]), Message.user("x")]))
    assert blank.message.text == "(go ahead)" and blank.how == "cleared"
    assert mixed.message.content == (PICTURE,)
    assert whole.how == "kept"


def test_punctuation_around_the_token_of_silence_does_not_count() -> None:
    assert is_silent("¡NO_REPLY!") and not is_silent("NO_REPLY now")
