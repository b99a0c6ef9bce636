"""Runs the driver over a conversation without a model or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving, Pass, manage
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.policy import CompactionPolicy, FunctionPolicy
from harness_nb.core.requests import Reply
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.view import Hook

NOON = datetime(2026, 4, 12, 12, tzinfo=UTC)


def conversation(messages: Sequence[Message]) -> Conversation:
    """A conversation in which that was said; a turn is running when a user or a tool spoke last."""
    made = Conversation(Measure(CharsCounter()), lambda: NOON)
    for message in messages:
        if message.role == "user" and message.origin == "user":
            made.begin_turn(message)
        elif message.role == "assistant":
            made.add_reply(message)
        else:
            made.add(message)
    return made


def around(window: int = 100_000, **fields: Any) -> Surroundings:
    """What is sent beside the messages."""
    return Surroundings(model=ModelLimits(name="model", window=window), **fields)


def talk(turns: int, chars: int = 400) -> list[Message]:
    """Turns of a question and an answer, then a question."""
    pairs = [
        (Message.user(f"q{at} ".ljust(chars, ".")), Message.assistant(f"a{at}".ljust(chars, ".")))
        for at in range(turns)
    ]
    return [*(message for pair in pairs for message in pair), Message.user("the latest question")]


def rounds(count: int, chars: int = 400) -> list[Message]:
    """Calls, each with its result."""
    return [
        message
        for at in range(count)
        for message in (
            Message.assistant(None, [ToolCall(f"c{at}", "run")]),
            Message.tool(f"c{at}", f"r{at} ".ljust(chars, "."), name="run"),
        )
    ]


def one_round(results: int, chars: int = 400) -> list[Message]:
    """Parallel calls with their results."""
    ids = [f"p{at}" for at in range(results)]
    return [
        Message.assistant(None, [ToolCall(one, "run") for one in ids]),
        *(Message.tool(one, f"{one} ".ljust(chars, "."), name="run") for one in ids),
    ]


Answering = Callable[[Effect], Answer]


def summaries(text: str = "a summary") -> Answering:
    """Answers every request with that text, and lets messages leave."""
    return lambda effect: None if isinstance(effect, Begun | Leaving) else Reply(text)


def drive(
    talked: Conversation,
    policy: CompactionPolicy | Callable[..., Any],
    hook: Hook = "request",
    beside: Surroundings | None = None,
    *,
    answer: Answering | None = None,
    effects: list[Effect] | None = None,
    **given: Any,
) -> tuple[Pass, ...]:
    """Lets a policy, or a function that is one, act; effects are noted in `effects`."""
    acting = policy if isinstance(policy, CompactionPolicy) else FunctionPolicy(policy, "mine")
    steps = manage(talked, acting, hook, beside or around(), **given)
    responding = answer or summaries()
    last: Answer = None
    while True:
        try:
            effect = steps.send(last)
        except StopIteration as end:
            passes: tuple[Pass, ...] = end.value
            return passes
        if effects is not None:
            effects.append(effect)
        last = responding(effect)
