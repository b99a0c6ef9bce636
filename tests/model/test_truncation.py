from __future__ import annotations

import pytest

from harness_nb.core.messages import Message, Usage
from harness_nb.errors import ContextOverflowError
from harness_nb.model.truncation import is_output_cut, overflow_in, truncation_warning


def reply(text: str, finish: str, tokens: int, output: int = 0) -> Message:
    return Message.assistant(text or None, finish=finish, usage=Usage(tokens, output))


def test_r027_gross_shortfall_is_warned_of() -> None:
    found = truncation_warning(reply("fine", "stop", 4_098, 5), estimated_tokens=16_000, window=32_000)
    assert "probably truncated by the server" in found and "4098" in found


def test_r027_full_window_without_output_is_warned_of() -> None:
    assert "probably truncated" in truncation_warning(
        reply("", "length", 32_000), estimated_tokens=32_000, window=32_000
    )


@pytest.mark.parametrize(("reported", "estimated"), [(13_000, 16_000), (20_000, 16_000), (100, 800), (0, 16_000)])
def test_r027_ordinary_difference_is_not_warned_of(reported: int, estimated: int) -> None:
    assert truncation_warning(reply("fine", "stop", reported, 5), estimated_tokens=estimated, window=32_000) == ""


def test_r027_reply_without_usage_says_nothing() -> None:
    assert truncation_warning(Message.assistant("x"), estimated_tokens=16_000, window=32_000) == ""


@pytest.mark.parametrize("finish", ["length", "model_context_window_exceeded"])
def test_empty_reply_with_a_full_window_is_an_overflow(finish: str) -> None:
    found = overflow_in(reply("", finish, 32_000), 32_000)
    assert isinstance(found, ContextOverflowError) and found.window == 32_000


def test_r029_cut_output_with_text_is_no_overflow() -> None:
    cut = reply("some text", "length", 3_200, 512)
    assert overflow_in(cut, 32_000) is None
    assert is_output_cut(cut)
    assert truncation_warning(cut, estimated_tokens=3_200, window=32_000) == ""


def test_blank_reply_in_a_free_window_is_no_overflow() -> None:
    assert overflow_in(reply("", "length", 100), 32_000) is None
    assert overflow_in(reply("", "stop", 32_000), 32_000) is None
