from __future__ import annotations

import base64
import gc
import pickle
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Message, Text, Usage
from harness_nb.core.tokens import (
    CALL_TOKENS,
    IMAGE_TOKENS,
    LARGEST_FACTOR,
    MESSAGE_TOKENS,
    Calibration,
    CharsCounter,
    Measure,
    TokenCounter,
    TokenFigure,
    message_tokens,
    value_tokens,
)
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError
from tests.strategies import json_values, wire_messages

COUNTER = CharsCounter()
SPECIAL = "<|endoftext|> and <|im_start|>"
DATA_URL = "data:image/png;base64," + "A" * 2_000_000


class Asked:
    """A counter that remembers what it was asked."""

    name = "asked"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count_text(self, text: str) -> int:
        self.texts.append(text)
        return 1


def size(wire: dict[str, Any], counter: TokenCounter = COUNTER) -> int:
    return message_tokens(Message.from_openai(wire), counter)


@given(st.text(), st.sampled_from([1, 2.5, 3, 4.0]))
def test_characters_divided_by_a_constant_are_rounded_up(text: str, per_token: float) -> None:
    tokens = CharsCounter(per_token).count_text(text)

    assert (tokens - 1) * per_token < len(text) <= tokens * per_token


@pytest.mark.parametrize("per_token", [0, -1, float("nan"), float("inf"), True, "4"])
def test_a_constant_that_counts_nothing_is_refused(per_token: Any) -> None:
    with pytest.raises(ConfigError, match=f"per_token={per_token!r}"):
        CharsCounter(per_token)


@given(wire_messages())
def test_r039_every_message_has_a_size_of_at_least_its_frame(wire: dict[str, Any]) -> None:
    assert size(wire) >= MESSAGE_TOKENS


@given(json_values())
def test_r039_every_value_has_a_size(value: Any) -> None:
    assert value_tokens(value, COUNTER) >= 0


@pytest.mark.parametrize(
    ("wire", "tokens"),
    [
        ({"role": "assistant", "content": None}, 0),
        ({"role": "assistant"}, 0),
        ({"role": "system", "content": [{"type": "text", "text": "four"}]}, 1),
        ({"role": "user", "content": [{"type": "weird", "foo": "xxxx"}]}, 1 + 2 + 1 + 1),
        ({"role": "user", "content": [None, True, 3, 4.5, "four"]}, 0 + 1 + 1 + 1 + 1),
        ({"role": "user", "content": "four", "name": "Zoë"}, 1 + 1),
        ({"role": "assistant", "content": "", "reasoning_content": "x" * 40}, 10),
        ({"role": "assistant", "content": "", "provider_specific": "x" * 40}, 0),
    ],
)
def test_r039_odd_contents_are_counted_by_their_texts(wire: dict[str, Any], tokens: int) -> None:
    assert size(wire) == MESSAGE_TOKENS + tokens


def test_r039_results_nested_in_parts_are_counted_and_their_pictures_at_the_fixed_price() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 900_000}}
    part = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x" * 400}, picture]}

    assert IMAGE_TOKENS + 100 <= size({"role": "user", "content": [part]}) < IMAGE_TOKENS + 130


def test_r039_a_value_may_be_nested_deeper_than_calls_may_be() -> None:
    value: Any = "four"
    for _ in range(50_000):
        value = [{"k": value}]

    assert value_tokens(value, COUNTER) == 50_001


def test_calls_count_with_name_arguments_and_a_frame() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "four", "arguments": "x" * 8}}

    assert size({"role": "assistant", "content": None, "tool_calls": [call, call]}) == (
        MESSAGE_TOKENS + 2 * (CALL_TOKENS + 1 + 2)
    )


def test_reasoning_that_is_given_twice_counts_once() -> None:
    blocks = [{"type": "thinking", "thinking": "x" * 400}]
    once = size({"role": "assistant", "content": "", "thinking_blocks": blocks})

    assert size({"role": "assistant", "content": "", "thinking_blocks": blocks, "reasoning_content": "x" * 400}) == once


def test_r036_special_token_strings_are_counted_as_the_text_they_are() -> None:
    counter = Asked()
    measure = Measure(counter)
    tool = Tool(name="run", description=SPECIAL, parameters={}, function=print)

    measure(Message.user(SPECIAL))
    measure(Message.tool("c1", SPECIAL))
    measure.text(SPECIAL)
    measure.tools([tool])

    assert counter.texts[:3] == [SPECIAL] * 3
    assert SPECIAL in counter.texts[3]


@pytest.mark.parametrize(
    "text",
    ["x" * 500_000, "-" * 500_000, "数" * 100_000, base64.b64encode(b"\x00\xff" * 500_000).decode()],
    ids=["letters", "dashes", "CJK", "base64"],
)
def test_r037_counting_any_text_takes_less_than_a_second(text: str) -> None:
    started = time.process_time()

    Measure(COUNTER)(Message.user(text))

    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": DATA_URL}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA_URL}},
        {"type": "input_image", "image_url": DATA_URL},
        {"type": "input_audio", "input_audio": {"data": "A" * 500_000, "format": "wav"}},
    ],
)
def test_r038_a_picture_costs_a_fixed_amount_however_long_its_encoding_is(part: dict[str, Any]) -> None:
    wire = {"role": "user", "content": [part, {"type": "text", "text": "what is this"}]}

    assert size(wire) == MESSAGE_TOKENS + IMAGE_TOKENS + 3


def test_r038_an_encoded_file_does_not_count_by_its_length_either() -> None:
    part = {"type": "file", "file": {"file_data": DATA_URL}}

    assert size({"role": "user", "content": [part]}) < IMAGE_TOKENS + 20


def test_a_message_is_measured_once() -> None:
    counter = Asked()
    measure = Measure(counter)
    message = Message.user("hello")

    assert [measure(message) for _ in range(3)] == [MESSAGE_TOKENS + 1] * 3
    assert counter.texts == ["hello"]
    assert measure.total([message, message]) == 2 * (MESSAGE_TOKENS + 1)


def test_what_was_measured_is_forgotten_with_the_message() -> None:
    measure = Measure(COUNTER)
    message = Message.user("hello")
    measure(message)

    del message
    gc.collect()

    assert measure._known == {}


def test_a_new_message_in_the_place_of_a_dead_one_is_measured_itself() -> None:
    measure = Measure(COUNTER)

    for length in range(2_000):
        assert measure(Message.user("x" * length)) == MESSAGE_TOKENS + COUNTER.count_text("x" * length)


def test_equal_messages_that_are_not_the_same_are_told_apart() -> None:
    counter = Asked()
    measure = Measure(counter)
    one, other = Message.user("hello"), Message.user("hello")

    measure.total([one, other])

    assert len(counter.texts) == 2


def test_a_formula_of_ones_own_replaces_the_size() -> None:
    measure = Measure(COUNTER, lambda message, counter: counter.count_text(message.text) * 10)

    assert measure(Message("user", (Text("four"),))) == 10
    assert measure.name == "characters/4"
    assert measure.text("") == 0


def test_a_measure_survives_pickling_and_measures_anew() -> None:
    measure = Measure(CharsCounter(2.5))
    message = Message.user("hello")
    measure(message)

    again = pickle.loads(pickle.dumps(measure))  # noqa: S301

    assert again(message) == measure(message)
    assert again.name == "characters/2.5"


def test_a_figure_says_how_it_is_known() -> None:
    bare = TokenFigure(tokens=10, billed=0, estimated=10, counter=COUNTER.name)
    billed = TokenFigure(tokens=1_210, billed=1_200, estimated=10, counter=COUNTER.name)

    assert bare.source == "estimated by characters/4"
    assert billed.source == "1,200 from the last bill plus an estimate of 10 since"


def test_usage_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        Usage(1).cost = 2.0  # type: ignore[misc]


def test_estimates_are_taken_as_they_are_until_bills_have_grown() -> None:
    assert Calibration().factor == 1.0
    assert Calibration().grown(13, 10).factor < 1.01


def test_factor_comes_near_to_what_bills_grow_by() -> None:
    learnt = Calibration()
    for _ in range(200):
        learnt = learnt.grown(1_300, 1_000)
    assert 1.29 < learnt.factor <= 1.3


@given(st.lists(st.tuples(st.integers(-(10**6), 10**6), st.integers(-10, 10**6))))
def test_factor_stays_within_its_bounds_whatever_was_billed(grown: list[tuple[int, int]]) -> None:
    learnt = Calibration()
    for reported, estimated in grown:
        learnt = learnt.grown(reported, estimated)
    assert 1.0 <= learnt.factor <= LARGEST_FACTOR


def test_a_prompt_that_grew_between_two_calls_hardly_counts() -> None:
    assert Calibration().grown(3_000, 20).factor < 1.02


def test_a_list_that_something_was_taken_out_of_teaches_nothing() -> None:
    assert Calibration().grown(-500, 100) == Calibration()
