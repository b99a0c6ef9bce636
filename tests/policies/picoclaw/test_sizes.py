from __future__ import annotations

from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.policies.picoclaw.legacy import LegacyPolicy
from harness_nb.policies.picoclaw.sizes import items_tokens, message_tokens
from tests.policies.picoclaw.talks import chat, items


def test_two_and_a_half_characters_are_a_token() -> None:
    assert message_tokens(Message.user("u1 asks about topic 1;")) == 13
    assert message_tokens(Message.user("")) == 4


def test_text_counts_in_characters_and_calls_in_bytes() -> None:
    assert message_tokens(Message.user("问" * 22)) == message_tokens(Message.user("q" * 22))
    calls = [Message.assistant("", [ToolCall("c", "grep", f'{{"q": "{text}"}}')]) for text in ("问", "abc")]
    assert message_tokens(calls[0]) == message_tokens(calls[1])


def test_a_result_counts_with_its_id_and_a_picture_at_a_price() -> None:
    assert message_tokens(Message.tool("call_100", "abc")) == message_tokens(Message.user("abc" + "i" * 8))
    picture = Message.user((Text("look"), Image("data:image/png;base64,AAAA", "{}")))
    assert message_tokens(picture) == message_tokens(Message.user("look")) + 256


def test_reasoning_counts_where_it_is_kept() -> None:
    thought = Message.from_openai({"role": "assistant", "content": "a", "reasoning_content": "b" * 40})
    assert message_tokens(thought) == message_tokens(Message.assistant("a" * 41))


def test_a_list_is_the_sum_of_its_messages() -> None:
    assert items_tokens(items(chat(2))) == 4 * message_tokens(chat(1)[0])


def test_a_manager_measures_a_message_likewise() -> None:
    assert LegacyPolicy().size(chat(1)[0]) == message_tokens(chat(1)[0])
