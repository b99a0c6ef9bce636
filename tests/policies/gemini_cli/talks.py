"""Conversations that the tests of Gemini CLI's compaction share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Count, Evict, Failure, Reply, Request, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.gemini_cli.config import GeminiCliConfig
from harness_nb.policies.gemini_cli.policy import GeminiCliPolicy


def pairs(count: int, chars: int = 100) -> list[Message]:
    """Questions and answers of equal length."""
    return [one for at in range(count) for one in (Message.user(f"q{at:<{chars - 1}}"), answer(f"a{at:<{chars - 1}}"))]


def answer(text: str) -> Message:
    return Message.assistant(text)


def call(*ids: str, name: str = "read_file", arguments: str = '{"path":"a"}') -> Message:
    return Message.assistant(None, [ToolCall(one, name, arguments) for one in ids])


def result(call_id: str, text: str = "done", name: str = "read_file") -> Message:
    return Message.tool(call_id, text, name=name)


def steps(count: int, chars: int = 100, name: str = "read_file") -> list[Message]:
    """Rounds of one call each."""
    return [one for at in range(count) for one in (call(f"c{at}", name=name), result(f"c{at}", "x" * chars, name))]


def policy(**settings: Any) -> GeminiCliPolicy:
    return GeminiCliPolicy(GeminiCliConfig(**settings))


def view_of(
    messages: Sequence[Message], *, window: int = 100_000, model: str = "gemini-2.5-pro", **fields: Any
) -> View:
    limits = ModelLimits(name=model, window=window)
    return View.of(Transcript(messages), model=limits, **{"hook": "manual", "fixed_tokens": 0} | fields)


def answered(request: Request, texts: list[Any]) -> Reply:
    """A file for a text that is filed, no count, and the next of some texts or failures for a model call."""
    if isinstance(request, Evict):
        return Reply(f"files/{request.call_id}.txt")
    if isinstance(request, Count):
        return Reply(None, Failure("error"))
    given = texts.pop(0)
    return given if isinstance(given, Reply) else Reply(given)


def planned(chosen: GeminiCliPolicy, view: View, *texts: Any) -> tuple[Plan, list[Request]]:
    """The plan once everything was answered, and what was asked."""
    left, asked = list(texts), []
    view = replace(view, strict=True)
    while True:
        try:
            return chosen.plan(view), asked
        except Unknown as signal:
            asked.append(signal.request)
            view = view.learn(signal.request, answered(signal.request, left))


def asks(requests: Sequence[Request]) -> list[Ask]:
    return [one for one in requests if isinstance(one, Ask)]


def indices(plan: Plan) -> list[int | None]:
    return [item.index for item in plan.input or ()]
