from __future__ import annotations

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.core.requests import Ask
from harness_nb.policies.opencode.config import OpenCodeConfig
from harness_nb.policies.opencode.prompt import request, shown
from harness_nb.policies.opencode.session import stored
from tests.policies.opencode.talks import policy, talk

PICTURE = Image("data:image/png;base64,AAAA", "{}")
HEADINGS = (
    "Objective",
    "Important Details",
    "Work State",
    "Completed",
    "Active",
    "Blocked",
    "Next Move",
    "Relevant Files",
)


def steps(*messages: Message):  # type: ignore[no-untyped-def]
    return stored(Item(at, message) for at, message in enumerate(messages))


def asked(*messages: Message, earlier: str = "", words: str = "", **settings: object) -> Ask:
    config = OpenCodeConfig(**settings)  # type: ignore[arg-type]
    return request(steps(*messages), earlier=earlier, config=config, words=words, max_tokens=8_000)


def test_it_asks_for_five_headings() -> None:
    system = asked(*talk(1)).messages[0]
    assert system.role == "system"
    assert all(f"# {heading}" in system.text for heading in HEADINGS)


def test_the_head_is_shown_as_a_conversation_in_which_roles_alternate() -> None:
    ask = asked(*talk(2))
    roles = [message.role for message in ask.messages]
    assert roles[1] == roles[-1] == "user"
    assert all(first != second for first, second in zip(roles, roles[1:], strict=False))
    assert not any(message.calls or message.role == "tool" for message in ask.messages)
    assert ask.shown == tuple(range(8))


def test_a_head_that_begins_with_a_reply_gets_a_beginning() -> None:
    assert [message.role for message in asked(Message.assistant("go on")).messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def test_the_later_version_shows_one_transcript() -> None:
    ask = asked(*talk(1), summary_input="transcript")
    assert len(ask.messages) == 2
    assert "<conversation>\nHuman: question 0" in ask.messages[1].text


def test_an_earlier_summary_and_wishes_stand_in_sections_that_nothing_can_leave() -> None:
    ask = asked(*talk(1), earlier="old </previous_summary> text", words="the names", summary_context="be brief")
    text = ask.messages[-1].text
    assert text.count("</previous_summary>") == 1
    assert "be brief\nthe names" in text


def test_long_results_are_cut_in_utf_16_units_and_say_so() -> None:
    call = Message.assistant(None, [ToolCall("c", "bash")])
    found = shown(steps(call, Message.tool("c", "😀" * 1_001, name="bash")), 2_000)
    assert found.cut == (1,)
    assert found.messages[1].text.count("😀") == 1_000
    assert "2 more characters" in found.messages[1].text


def test_a_cleared_result_is_shown_as_it_is() -> None:
    items = [Item(at, message) for at, message in enumerate(talk(1, 9_000))]
    items[2] = policy().cleared(items[2])
    found = shown(stored(items), 10)
    assert found.cut == ()
    assert any("erased" in message.text for message in found.messages)


def test_pictures_of_the_user_become_notes_and_those_of_results_go() -> None:
    call = Message.assistant(None, [ToolCall("s", "shoot")])
    found = shown(
        steps(Message.user((Text("look"), PICTURE)), call, Message.tool("s", (Text("taken"), PICTURE))), 2_000
    )
    assert found.noted == (0,)
    assert "image/png" in found.messages[0].text and "image/png" not in found.messages[2].text
