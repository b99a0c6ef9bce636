from __future__ import annotations

import json

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Text, ToolCall, Usage
from harness_nb.policies.openclaw import sizes
from harness_nb.policies.openclaw.compaction import summary_of
from tests.policies.openclaw.talks import called, items, result

PICTURE = Image("data:x", '{"type":"image_url","image_url":{"url":"data:x"}}')


def test_a_message_is_a_quarter_of_its_characters_pictures_and_reasoning_included() -> None:
    assert sizes.message_tokens(Message.user("12345")) == 2
    assert sizes.message_tokens(Message.user([Text("1234"), PICTURE])) == 1_201
    assert sizes.message_tokens(called("c")) == (len("read") + len('{"path":"a.ts"}') + 3) // 4
    thought = Message.assistant("ab", rest=json.dumps({"reasoning_content": "cdefgh"}))
    assert sizes.message_tokens(thought) == 2


def test_numbers_in_arguments_count_as_javascript_writes_them() -> None:
    assert sizes.arguments(ToolCall("c", "read", '{"n": 250.0}')) == '{"n":250}'
    assert sizes.arguments(ToolCall("c", "read", "not json")) == "not json"


def test_a_summary_counts_without_its_wrapping() -> None:
    item = summary_of("x" * 40, (), {})
    assert sizes.tokens(item) == 10
    assert sizes.summary_text(item) == "x" * 40 and sizes.summary_text(Item(0, Message.user("x"))) is None


def test_the_last_bill_and_what_came_after_are_the_context() -> None:
    talk = [Message.user("x" * 400), Message.assistant("y", usage=Usage(5_000, 200)), Message.user("z" * 40)]
    assert sizes.context_tokens(items(talk)) == 5_210
    failed = [Message.assistant("y", usage=Usage(5_000, 200), finish="error"), Message.user("z" * 40)]
    assert sizes.context_tokens(items(failed)) == 11


def test_what_is_sent_weighs_results_and_east_asian_texts_more() -> None:
    assert [sizes.pressure(one) for one in items([Message.user("x" * 40), result("c", 10)])] == [28, 40]
    han = Message.tool("c", "日志" * 300, name="read")
    assert sizes.pressure(Item(0, han)) == 620
    assert sizes.request_pressure([], "x" * 40, "") == 41  # (12 + 10 + 12) * 1.2


def test_the_guard_counts_results_twice_and_pruning_counts_a_summary_by_a_constant() -> None:
    assert sizes.guard_chars(Item(0, result("c", 10))) == 80
    assert sizes.pruning_chars(summary_of("x" * 5_000, (), {})) == 256
