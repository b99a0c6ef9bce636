from __future__ import annotations

import copy
import gc
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall
from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.gemini_cli.sizes import Sizes, json_chars, sized, text_tokens
from tests.policies.gemini_cli.talks import answer, call, result

PICTURE = Image("data:image/png;base64,AAAA", "{}")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x" * 1_000, 250), ("漢" * 1_000, 1_500), ("漢" * 100_000, 150_000), ("漢" * 100_001, 25_000),
        ("🙂" * 10, 30), ("abc", 0), ("", 0), ("é" + "x" * 2, 2),
    ],
)  # fmt: skip
def test_an_ascii_unit_is_a_quarter_of_a_token_any_other_six_and_a_long_text_a_quarter_each(
    text: str, tokens: int
) -> None:
    assert text_tokens(text) == tokens


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_the_length_of_a_text_in_json_is_that_of_javascript(text: str) -> None:
    assert json_chars(text) == utf16_len(json.dumps(text, ensure_ascii=False))


def test_half_a_pair_is_written_as_an_escape() -> None:
    assert json_chars("a\ud83d") == len('"a\\ud83d"')


def test_a_prompt_and_a_call_have_the_length_of_their_json() -> None:
    assert sized(Message.user("a\nb")).chars == len('{"text":"a\\nb"}')
    written = '{"functionCall":{"id":"c","name":"read_file","args":{"n":250}}}'
    found = sized(Message.assistant(None, [ToolCall("c", "read_file", '{"n": 250.0}')]))
    assert (found.chars, found.quarters) == (len(written), len(written))


def test_a_result_counts_its_tools_name_and_its_json_without_weights() -> None:
    found = sized(result("c", "漢漢"))
    assert found.quarters == len("read_file") + len('{"output":"漢漢"}')
    assert found.chars == len('{"functionResponse":{"id":"c","name":"read_file","response":{"output":"漢漢"}}}')


def test_pictures_and_documents_have_a_flat_price_and_their_whole_length() -> None:
    document = Opaque('{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}')
    picture, paper = sized(Message.user([PICTURE])), sized(Message.user([document]))
    assert (picture.quarters, paper.quarters) == (12_000, 103_200)
    assert picture.chars == len('{"inlineData":{"mimeType":"image/png","data":"AAAA"}}')
    assert picture.has_media and paper.has_media
    assert sized(Message.user([Image("https://a/b.png", "{}")])).quarters == 12_000
    assert sized(Message.user([Opaque('{"type":"odd"}')])).quarters == len('{"type":"odd"}')


def test_media_of_a_result_stand_beside_it_or_inside_it() -> None:
    message = Message.tool("c", (Text("pic"), PICTURE), name="read_file")
    beside, inside = sized(message), sized(message, nested=True)
    assert (len(beside.parts), beside.has_media) == (2, True)
    assert (len(inside.parts), inside.has_media) == (1, False)
    assert beside.quarters == inside.quarters


@pytest.mark.parametrize(
    ("message", "is_invalid"),
    [
        (answer(""), True), (Message.assistant(None), True), (answer("  "), False), (answer("yes"), False),
        (call("c"), False), (Message.assistant("", [ToolCall("c", "t")]), False), (Message.user(""), False),
    ],
)  # fmt: skip
def test_an_answer_without_text_or_calls_is_invalid(message: Message, is_invalid: bool) -> None:
    assert sized(message).is_invalid is is_invalid


def test_blank_text_beside_calls_and_reasoning_are_left_out() -> None:
    assert sized(Message.assistant(" \n", [ToolCall("c", "t")])) == sized(Message.assistant(None, [ToolCall("c", "t")]))
    thought = Message("assistant", (Thinking("hm", "{}"), Text("yes")))
    assert sized(thought) == sized(answer("yes"))


def test_sizes_are_taken_once_and_forgotten_with_the_message() -> None:
    sizes = Sizes()
    message = answer("some words")
    assert sizes(message) is sizes(message)
    del message
    gc.collect()
    assert not sizes._known
    assert copy.copy(sizes).quarters(answer("abcd")) == 4
