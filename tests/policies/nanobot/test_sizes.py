"""Nanobot's estimates."""

from __future__ import annotations

import json

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.tool import Tool
from harness_nb.policies.nanobot.sizes import NanobotSizes

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
SIZES = NanobotSizes("utf8_bytes", Measure(CharsCounter()))


def test_a_message_is_its_parts_and_four() -> None:
    assert SIZES.message(Message.user("äb")) == 3 + 4
    assert SIZES.message(Message.assistant(None)) == 4
    assert SIZES.message(Message.tool("c1", "abc", name="look")) == len("abc\nlook\nc1") + 4


def test_a_picture_counts_as_json_in_a_message_and_nothing_in_a_prompt() -> None:
    message = Message.from_openai({"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE]})
    assert SIZES.message(message) == len(f"see\n{json.dumps(PICTURE)}") + 4
    assert SIZES.prompt([message]) == 3 + 4


def test_a_prompt_joins_all_parts_and_adds_the_schemas() -> None:
    tool = Tool(name="look", description="Looks.", parameters={"type": "object"}, function=lambda: "")
    said = [Message.system("a"), Message.user("b")]
    assert SIZES.prompt(said) == 3 + 8
    assert SIZES.prompt(said, [tool]) == 3 + 8 + 1 + len(json.dumps([tool.schema]))
    assert SIZES.prompt([]) == 0


@pytest.mark.parametrize(("estimator", "prompt", "message"), [("tokens", 4 + 2, 6), ("missing", 0, 6)])
def test_other_ways_to_count(estimator: str, prompt: int, message: int) -> None:
    sizes = NanobotSizes(estimator, Measure(CharsCounter()))  # type: ignore[arg-type]
    assert sizes.prompt([Message.user("x" * 8)]) == prompt
    assert sizes.message(Message.user("x" * 8)) == message
