"""Which messages are replayed, and in what form."""

from __future__ import annotations

from harness_nb.core.item import Item
from harness_nb.core.messages import Message, ToolCall
from harness_nb.policies.nanobot import replay


def rows(*messages: Message) -> list[Item]:
    return [Item(index, message) for index, message in enumerate(messages)]


def indices(items: object) -> list[int | None]:
    return [item.index for item in items]  # type: ignore[attr-defined]


def test_a_replay_begins_with_a_request_of_the_user_and_without_results_of_no_call() -> None:
    said = rows(Message.tool("x", "?"), Message.assistant("a"), Message.user("u"), Message.assistant("b"))
    assert indices(replay.aligned(said)) == [2, 3]
    assert indices(replay.legal(rows(Message.assistant("a"), Message.tool("x", "?"), Message.assistant("b")))) == [2]


def test_the_window_goes_back_to_a_request_of_the_user() -> None:
    said = rows(Message.user("u"), *[Message.assistant(str(number)) for number in range(9)])
    assert replay.window_start(said, 4) == 0
    assert replay.window_start(said, 4, extend=False) == 6
    assert replay.window_start(said, 20) == 0


def test_marks_that_a_model_copied_and_blank_replies_are_left_out() -> None:
    copied = "[Message Time: 2026-07-20 10:00]\nThe answer.\n[image: /pictures/x.png]\nmessage(to=1)\n"
    said = rows(Message.assistant(copied), Message.assistant("  "), Message.assistant("", [ToolCall("c", "look")]))
    shown = replay.shown(said)
    assert indices(shown) == [0, 2]
    assert shown[0].message.text == "The answer."
    assert (shown[0].how, shown[1].how) == ("truncated", "kept")


def test_white_space_around_a_reply_can_stay_so_that_the_list_does() -> None:
    said = rows(Message.assistant("The answer. "))
    assert replay.shown(said)[0].message.text == "The answer."
    assert replay.shown(said, trims=False) == said


def test_a_limit_in_tokens_keeps_a_request_of_the_user_even_where_it_is_too_long() -> None:
    def size(message: Message) -> int:
        return len(message.text)

    said = rows(Message.user("u" * 9), Message.assistant("a"), Message.user("v"), Message.assistant("bb"))
    assert indices(replay.within(said, 4, size)) == [2, 3]
    assert indices(replay.within(said[:2], 3, size)) == [0, 1]
    assert indices(replay.within(said, 0, size)) == [0, 1, 2, 3]
    assert replay.within([], 5, size) == []
