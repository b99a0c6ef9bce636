from __future__ import annotations

import json

import pytest

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.policies.opencode.session import marker_item, stored
from harness_nb.policies.opencode.sizes import Sizes, media_type, quarter, wire

PICTURE = Image("data:image/png;base64,AAAA", '{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}')
PAPER = Image("data:application/pdf;base64,AAAA", "{}")
ANTHROPIC, XAI, OTHER = "@ai-sdk/anthropic", "@ai-sdk/xai", "@ai-sdk/openai-compatible"


def steps(*messages: Message):  # type: ignore[no-untyped-def]
    return stored(Item(at, message) for at, message in enumerate(messages))


@pytest.mark.parametrize(("units", "tokens"), [(0, 0), (1, 0), (2, 1), (5, 1), (6, 2), (8, 2)])
def test_half_a_token_rounds_up(units: int, tokens: int) -> None:
    assert quarter(units) == tokens


def test_a_size_is_a_quarter_of_the_json_of_what_is_sent() -> None:
    found = steps(Message.user("hello 😀"), Message.assistant("answer"))
    sent = [one for step in found for one in wire(step, ANTHROPIC)]
    text = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    assert Sizes(ANTHROPIC).tokens(found) == quarter(len(text) + 1)  # an emoji is two units
    assert Sizes(ANTHROPIC).tokens(()) == 1


def test_arguments_are_written_again_as_javascript_does() -> None:
    call = ToolCall("c", "look_up", '{ "n": 250.0, "s": "a" }')
    (step,) = steps(Message.assistant(None, [call]))
    assert wire(step, ANTHROPIC)[0]["content"][0]["input"] == {"n": 250.0, "s": "a"}
    whole, tight = ToolCall("c", "look_up", '{"n":250}'), ToolCall("c", "look_up", '{"n":250.0}')
    sizes = [Sizes(ANTHROPIC).tokens(steps(Message.assistant(None, [one]))) for one in (whole, tight)]
    assert sizes[0] == sizes[1]


def test_broken_arguments_count_as_a_text() -> None:
    (step,) = steps(Message.assistant(None, [ToolCall("c", "look_up", "{broken")]))
    assert wire(step, ANTHROPIC)[0]["content"][0]["input"] == "{broken"


def test_a_call_without_a_result_counts_with_a_note_of_32_units() -> None:
    (step,) = steps(Message.assistant(None, [ToolCall("c", "look_up")]))
    output = wire(step, ANTHROPIC)[1]["content"][0]["output"]
    assert (output["type"], len(output["value"])) == ("error-text", 32)


@pytest.mark.parametrize(
    ("package", "inside", "apart"), [(ANTHROPIC, 2, 0), (XAI, 1, 1), (OTHER, 0, 2)], ids=["all", "images", "none"]
)
def test_pictures_in_results_stand_inside_or_in_a_message_of_their_own(package: str, inside: int, apart: int) -> None:
    call = Message.assistant(None, [ToolCall("s", "shoot")])
    result = Message.tool("s", (Text("taken"), PICTURE, PAPER))
    sent = wire(steps(call, result)[0], package)
    output = sent[1]["content"][0]["output"]
    assert (len(output["value"]) - 1 if output["type"] == "content" else 0) == inside
    assert (len(sent[2]["content"]) - 1 if len(sent) > 2 else 0) == apart


def test_pictures_of_the_user_are_files() -> None:
    (step,) = steps(Message.user((Text("look"), PICTURE)))
    assert wire(step, OTHER)[0]["content"][1] == {"type": "file", "mediaType": "image/png", "data": PICTURE.url}


def test_what_is_empty_is_not_sent() -> None:
    assert [wire(step, OTHER) for step in steps(Message.user(""), Message.assistant(""))] == [[], []]


def test_the_type_of_a_picture_by_address_is_not_known() -> None:
    assert media_type(Image("https://example.org/a", "{}")) == "image/png"


def test_a_marker_counts_as_its_question_whatever_it_says_and_a_failed_summary_as_nothing() -> None:
    failed = marker_item((3, 1), tail_start=None, state="failed")
    counted = [Sizes(ANTHROPIC).tokens(stored([one])) for one in (failed, marker_item((3, 1), tail_start=None))]
    assert counted[0] == counted[1] == quarter(2 + 53 + 22)
    assert [len(wire(step, ANTHROPIC)) for step in stored([failed])] == [1, 0]


def test_a_result_without_its_call_and_parts_that_are_not_known_count_nothing() -> None:
    opaque = Message.from_openai({"role": "user", "content": [{"type": "sound", "data": "x"}]})
    assert [wire(step, ANTHROPIC) for step in steps(Message.tool("c", "lost"), opaque)] == [[], []]
