"""Conversations that the tests of PicoClaw's compaction share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Failure, Reply, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.picoclaw.pipeline import PicoClawPolicy

OK = Reply("what a model wrote")
BROKEN = Reply(None, Failure("server_error", "boom"))


def chat(turns: int, chars: int = 40) -> list[Message]:
    """Turns of a question and an answer."""
    said = (
        (Message.user(f"q{at} ".ljust(chars, "x")), Message.assistant(f"a{at} ".ljust(chars, "y")))
        for at in range(turns)
    )
    return [message for pair in said for message in pair]


def loop(rounds: int, chars: int = 40) -> list[Message]:
    """A request and calls with their results."""
    pairs = ((call(f"c{at}"), result(f"c{at}", "r" * chars)) for at in range(rounds))
    return [Message.user("the only request"), *(message for pair in pairs for message in pair)]


def call(*ids: str) -> Message:
    return Message.assistant("", [ToolCall(id, "grep", '{"q": "x"}') for id in ids])


def result(id: str, text: str = "found") -> Message:
    return Message.tool(id, text, name="grep")


def items(messages: Sequence[Message]) -> tuple[Item, ...]:
    return tuple(Item(at, message) for at, message in enumerate(messages))


def view_of(messages: Sequence[Message], window: int = 100_000, **fields: Any) -> View:
    return View.of(Transcript(messages), model=ModelLimits(name="model", window=window), **{"hook": "end", **fields})


def grown(view: View, plan: Plan, *messages: Message, **fields: Any) -> View:
    """The view after a plan and some more messages."""
    log = view.log.append(*messages)
    start = len(view.log)
    more = (Item(start + at, message) for at, message in enumerate(messages))
    after = ModelInput((*plan.items(view), *more))
    users = [at for at, message in enumerate(log) if message.role == "user"]
    return replace(view, log=log, input=after, turn=users[-1], **fields)


def planned(policy: PicoClawPolicy, view: View, *replies: Reply) -> tuple[Plan, list[Ask]]:
    """The plan once requests got these replies in turn, the last of them again and again; and the requests."""
    answers = replies or (OK,)
    asked: list[Ask] = []
    view = replace(view, strict=True)
    while True:
        try:
            return policy.plan(view), asked
        except Unknown as signal:
            assert isinstance(signal.request, Ask)
            asked.append(signal.request)
            view = view.learn(signal.request, answers[min(len(asked), len(answers)) - 1])


def indices(items: Sequence[Item]) -> list[int | None]:
    return [item.index for item in items]
