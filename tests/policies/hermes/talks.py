"""Conversations that the tests of Hermes' compaction share."""

from __future__ import annotations

from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View

PICTURE = "data:image/png;base64,AAAA"


def chat(turns: int, chars: int = 400) -> list[Message]:
    """Turns of a question and an answer, and a last question."""
    said = [
        one for at in range(turns) for one in (Message.user(f"q{at} " * (chars // 4)), answer(f"a{at} " * (chars // 4)))
    ]
    return [*said, Message.user("the newest question")]


def steps(count: int, chars: int = 400) -> list[Message]:
    """One request and a long tool loop."""
    rounds = [one for at in range(count) for one in (call(f"c{at}"), result(f"c{at}", f"r{at} " * (chars // 4)))]
    return [Message.user("the only request"), *rounds]


def answer(text: str) -> Message:
    return Message.assistant(text)


def call(id: str, name: str = "terminal", arguments: str = '{"command": "make"}') -> Message:
    return Message.assistant(None, [ToolCall(id, name, arguments)])


def result(id: str, text: str = "done") -> Message:
    return Message.tool(id, text)


def items(messages: list[Message]) -> tuple[Item, ...]:
    return tuple(Item(at, message) for at, message in enumerate(messages))


def view_of(messages: list[Message], window: int = 100_000, **fields: Any) -> View:
    """A view at the start of a turn."""
    fields = {"hook": "turn", **fields}
    return View.of(Transcript(messages), model=ModelLimits(name="model", window=window), **fields)
