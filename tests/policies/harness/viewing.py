"""Views and strict plans of the harness's own policy, without a driver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.config import CompactionConfig
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Reply, Request, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.policies.harness import HarnessPolicy

LARGE_WINDOW = ModelLimits(name="model", window=1_000_000)


def talk(turns: int, chars: int = 40) -> list[Message]:
    """Turns of a question and an answer."""
    return [message for at in range(turns) for message in (Message.user(f"q{at} ".ljust(chars)), answer(chars))]


def answer(chars: int = 40) -> Message:
    return Message.assistant("a" * chars)


def round_of(*ids: str, chars: int = 40) -> list[Message]:
    return [
        Message.assistant(None, [ToolCall(one, "run") for one in ids]),
        *(Message.tool(one, "r" * chars) for one in ids),
    ]


def view_of(messages: list[Message], **fields: Any) -> View:
    return View.of(Transcript(messages), **({"model": LARGE_WINDOW} | fields))


def grown(view: View, *messages: Message) -> View:
    """The view once more was said; the turn in progress begins behind it."""
    start = len(view.log)
    items = (Item(start + at, message) for at, message in enumerate(messages))
    return replace(view, log=view.log.append(*messages), input=view.input.append(*items), turn=start + len(messages))


def policy(**settings: Any) -> HarnessPolicy:
    return HarnessPolicy(CompactionConfig(**settings))


def asked(policy: HarnessPolicy, view: View) -> Ask:
    """The first request that a strict plan makes."""
    with pytest.raises(Unknown) as signal:
        policy.plan(replace(view, strict=True))
    assert isinstance(signal.value.request, Ask)
    return signal.value.request


def answered(policy: HarnessPolicy, view: View, *replies: Reply, requests: list[Request] | None = None) -> Plan:
    """The strict plan once its requests have these replies, the last of them again and again; notes the requests."""
    view, given = replace(view, strict=True), list(replies)
    while True:
        try:
            return policy.plan(view)
        except Unknown as signal:
            if requests is not None:
                requests.append(signal.request)
            view = view.learn(signal.request, given.pop(0) if len(given) > 1 else given[0])
