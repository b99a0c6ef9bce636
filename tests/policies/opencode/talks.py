"""Conversations that the tests of OpenCode's compaction share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Failure, Reply, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.opencode.config import OpenCodeConfig
from harness_nb.policies.opencode.policy import OpenCodePolicy

OK = Reply("## Objective\n- what a model wrote")
BROKEN = Reply(None, Failure("server_error", "boom"))
TOO_LONG = Reply(None, Failure("overflow", "too long"))


def turn(at: int, chars: int = 400, tool: str = "look_up") -> list[Message]:
    """A question, a call with its result, and an answer."""
    call = ToolCall(f"c{at}", tool, f'{{"topic": "t{at}"}}')
    result = Message.tool(f"c{at}", "row " * (chars // 4), name=tool)
    return [Message.user(f"question {at}"), Message.assistant(None, [call]), result, Message.assistant(f"answer {at}")]


def talk(turns: int, chars: int = 400, used: int | None = None) -> list[Message]:
    """Turns; the last reply has the count that the provider reported."""
    said = [message for at in range(turns) for message in turn(at, chars)]
    if used is not None:
        said[-1] = replace(said[-1], usage=Usage(input_tokens=used))
    return said


def policy(**settings: Any) -> OpenCodePolicy:
    return OpenCodePolicy(OpenCodeConfig(**settings))


def view_of(messages: list[Message], window: int = 100_000, **fields: Any) -> View:
    """A view in which the newest reply's count is the last that was reported."""
    usage = next((message.usage for message in reversed(messages) if message.role == "assistant"), None)
    limits = ModelLimits(name="model", window=window, max_output=8_000)
    return View.of(Transcript(messages), model=limits, **{"usage": usage, **fields})


def planned(policy: OpenCodePolicy, view: View, reply: Reply = OK) -> tuple[Plan, list[Ask]]:
    """The plan once every request got that reply, and the requests."""
    asked: list[Ask] = []
    view = replace(view, strict=True)
    while True:
        try:
            return policy.plan(view), asked
        except Unknown as signal:
            assert isinstance(signal.request, Ask)
            asked.append(signal.request)
            view = view.learn(signal.request, reply)


def shown(items: tuple[Item, ...]) -> list[Any]:
    """Indices of messages, and what the others are."""
    return [item.meta.get("opencode") if item.index is None else item.index for item in items]
