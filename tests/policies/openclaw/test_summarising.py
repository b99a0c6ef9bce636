from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Failure, Reply, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.figures import OpenClawFigures
from harness_nb.policies.openclaw.summarising import Writer, Written
from tests.policies.openclaw.talks import chat, items

BROKEN = Failure("error", "no")


def written(
    messages: Sequence[Message], answers: Sequence[str | Failure], most: int, window: int = 64_000, **more: str
) -> tuple[Written, list[Ask]]:
    """A staged summary, and what was asked for it."""
    view = View.of(Transcript(messages), model=ModelLimits(name="m", window=window), strict=True)
    asked: list[Ask] = []
    while True:
        writer = Writer(view, OpenClawConfig(), window, 20_000)
        try:
            return writer.staged(items(messages), "focus", most, **more), asked  # type: ignore[arg-type]
        except Unknown as signal:
            request = signal.request
        assert isinstance(request, Ask)
        asked.append(request)
        answer = answers[min(len(asked), len(answers)) - 1]
        view = view.learn(request, Reply(answer) if isinstance(answer, str) else Reply(None, answer))


def shown(asked: Sequence[Ask]) -> list[tuple[str, int]]:
    return [(one.purpose, len(one.shown)) for one in asked]


def test_a_small_history_takes_one_call() -> None:
    made, asked = written(chat(4, 100), ["S"], 10_000)
    assert (made, shown(asked)) == (Written("S"), [("summary", 8)])
    assert asked[0].max_tokens == 16_000 and asked[0].attempts == 3


def test_chunks_update_each_other_and_halves_are_merged() -> None:
    made, asked = written(chat(10, 1_000), ["1", "2", "3", "4", "M"], 6_000)
    assert made.text == "M"
    assert shown(asked) == [("summary", 5), ("summary", 5), ("summary", 5), ("summary", 5), ("merge", 0)]
    figures = OpenClawFigures()
    assert [figures.earlier(one) for one in asked] == ["", "update", "", "update", ""]
    assert figures.partials(asked[-1]) == 2


def test_an_earlier_summary_is_one_more_message() -> None:
    _, asked = written(chat(2, 100), ["S"], 10_000, previous="what was before")
    assert OpenClawFigures.earlier(asked[0]) == "redistill" and "what was before" in asked[0].messages[-1].text


def test_after_a_failure_there_is_what_was_done_with_a_note() -> None:
    made, asked = written(chat(1, 3_000), ["first", BROKEN], 3_000)
    assert made.text.startswith("first\n\n[This covers parts 1-1 of 2") and made.failed == "error"
    assert len(asked) == 2


def test_messages_that_are_too_large_are_left_out_in_a_second_try() -> None:
    talk = [*chat(1, 100), Message.user("x" * 200_000)]
    made, asked = written(talk, [BROKEN, "S"], 70_000, 64_000)
    assert made.text == "S\n\n[Long: user (~50K tokens) is not in this text.]" and made.failed == "error"
    assert shown(asked) == [("summary", 3), ("summary", 2)]


def test_where_nothing_comes_a_fixed_text_stands() -> None:
    made, _ = written(chat(2, 100), [BROKEN], 10_000)
    assert made.text.startswith("There were 4 messages here (0 too large)") and made.failed == "error"


def test_an_equal_request_is_asked_anew() -> None:
    view = View.of(Transcript(chat(1, 10)), strict=False)
    writer = Writer(view, OpenClawConfig(), 64_000, 20_000)
    for _ in range(2):
        writer.staged(items(chat(1, 10)), "focus", 10_000)
    assert [one.nth for one in writer.asked] == [0, 1]


@pytest.mark.parametrize(("mode", "tokens"), [("safeguard", 3_276), ("default", 4_096)])
def test_a_summary_is_no_longer_than_the_model_writes(mode: str, tokens: int) -> None:
    view = replace(View.of(Transcript(chat(1, 10))), model=ModelLimits(name="m", window=64_000, max_output=4_096))
    writer = Writer(view, OpenClawConfig(mode=mode), 64_000, 20_000)  # type: ignore[arg-type]
    writer.staged(items(chat(1, 10)), "focus", 10_000)
    assert writer.asked[0].max_tokens == tokens
