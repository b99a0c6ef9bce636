from __future__ import annotations

import pytest

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.replacement import invalid, refuse_invalid
from harness_nb.errors import MessageError

USER, ANSWER = Message.user("q"), Message.assistant("a")
CALL, RESULT = Message.assistant(None, [ToolCall("c", "run")]), Message.tool("c", "")


@pytest.mark.parametrize(
    "messages", [[USER], [USER, ANSWER], [USER, CALL, RESULT, ANSWER], [Message.system("s"), USER], [USER, USER]]
)
def test_a_list_that_a_provider_takes_may_replace_a_conversation(messages: list[Message]) -> None:
    assert invalid(messages) is None
    refuse_invalid(messages)


@pytest.mark.parametrize(
    ("messages", "position", "kind"),
    [
        ([], 0, "empty"),
        ([USER, Message.assistant(""), USER], 1, "blank"),
        ([USER, Message("assistant")], 1, "blank"),
        ([Message.user([])], 0, "blank"),
        ([ANSWER, USER], 0, "start"),
        ([USER, RESULT], 1, "orphan_result"),
        ([USER, CALL, USER], 1, "unanswered_call"),
        ([USER, Message.system("s")], 1, "late_system"),
    ],
)
def test_the_first_thing_wrong_is_named_with_its_place(messages: list[Message], position: int, kind: str) -> None:
    assert invalid(messages) == (position, kind)
    with pytest.raises(MessageError, match=f"position {position}") as caught:
        refuse_invalid(messages)
    assert caught.value.subject == position and caught.value.remedy
