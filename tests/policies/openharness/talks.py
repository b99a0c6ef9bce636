"""Conversations for OpenHarness' compaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply, Request, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.openharness.policy import OpenHarnessPolicy

Answer = Callable[[Request], Reply]


def said(count: int, chars: int = 400) -> list[Message]:
    """Messages of both sides in turn, the user's first."""
    makers = (Message.user, Message.assistant)
    return [makers[at % 2](f"m{at:03} " + "x" * (chars - 5)) for at in range(count)]


def worked(calls: int, chars: int = 1_000, tool: str = "read_file") -> list[Message]:
    """A request and a run of calls, each with its result."""
    found = [Message.user("Look at everything.")]
    for at in range(calls):
        found.append(Message.assistant(None, [ToolCall(f"c{at}", tool, f'{{"path":"f{at}.py"}}')]))
        found.append(Message.tool(f"c{at}", f"r{at} ".ljust(chars, "y")))
    return found


def view_of(messages: list[Message], **fields: Any) -> View:
    """A view of a conversation, by default with a window of 200,000 tokens."""
    given = {"model": ModelLimits(name="m", window=200_000), "strict": True, **fields}
    return View.of(Transcript(messages), **given)


def planned(policy: OpenHarnessPolicy, view: View, answer: Answer) -> tuple[View, Plan, list[Request]]:
    """The plan once every request is answered, with the view that knows the replies, and what was asked."""
    asked: list[Request] = []
    while True:
        try:
            return view, policy.plan(view), asked
        except Unknown as signal:
            asked.append(signal.request)
            view = view.learn(signal.request, answer(signal.request))


def summary(_: Request) -> Reply:
    """A reply with a summary."""
    return Reply("<analysis>thoughts</analysis><summary>What was said.</summary>")
