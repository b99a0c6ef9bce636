from __future__ import annotations

import pytest

from harness_nb.policies.opencode.refusals import is_overflow


@pytest.mark.parametrize(
    "text",
    [
        "Prompt is too long: 214000 tokens",
        "prompt too long; exceeded max context length",
        "prompt too long; exceeded context length",
        "This exceeds the limit of 4096 tokens",
        "context length exceeded",
        "Input token count (3) exceeds the maximum",
        "maximum context length is 8192 tokens",
        "too large for model with 8192 maximum context length",
        "413 (no body)",
        "400 status code (no body)",
    ],
)
def test_what_says_that_a_request_was_too_long_is_an_overflow(text: str) -> None:
    assert is_overflow(text)


@pytest.mark.parametrize(
    "text", ["prompt too long", "too many tokens", "token limit", "exceeds the limit", "500 (no body)"]
)
def test_what_others_would_take_for_one_is_none(text: str) -> None:
    assert not is_overflow(text)


def test_status_and_code_count_by_themselves() -> None:
    assert is_overflow("anything", status=413)
    assert is_overflow("anything", code="context_length_exceeded")
    assert not is_overflow("rate limit exceeded", status=429)
