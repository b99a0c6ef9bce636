"""Conversations that the tests of OpenClaw's compaction share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Begun, Leaving, Pass, manage
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.core.view import Hook
from harness_nb.lab.conformance.driving import conversation
from harness_nb.policies.openclaw.policy import OpenClawPolicy

GOOD = (
    "## Decisions\nShip it.\n\n## Open TODOs\nWatch it.\n\n## Constraints/Rules\nNone.\n\n"
    "## Pending user asks\nquestion\n\n## Exact identifiers\nNone."
)


def chat(turns: int, tokens: int = 500) -> list[Message]:
    """Questions and answers of so many tokens each."""
    return [
        one
        for at in range(turns)
        for one in (Message.user(filled(f"question {at} ", tokens)), Message.assistant(filled(f"answer {at} ", tokens)))
    ]


def filled(text: str, tokens: int) -> str:
    return (text * (4 * tokens))[: 4 * tokens]


def called(id: str, path: str = "a.ts", name: str = "read") -> Message:
    return Message.assistant(None, [ToolCall(id, name, f'{{"path":"{path}"}}')])


def result(id: str, tokens: int, **fields: Any) -> Message:
    return Message.tool(id, filled(f"row {id} ", tokens), name="read", **fields)


def steps(count: int, tokens: int) -> list[Message]:
    """One request and a tool loop."""
    rounds = [one for at in range(count) for one in (called(f"c{at}", f"f{at}.ts"), result(f"c{at}", tokens))]
    return [Message.user(filled("only question ", 50)), *rounds]


def items(messages: Sequence[Message]) -> list[Item]:
    return [Item(at, one) for at, one in enumerate(messages)]


def answering(*answers: str | Failure) -> tuple[Callable[[Any], Any], list[Ask]]:
    """A responder that gives some answers and then repeats the last, and what it was asked."""
    asked: list[Ask] = []

    def respond(effect: Any) -> Any:
        if isinstance(effect, Begun | Leaving):
            return None
        assert isinstance(effect, Ask)
        asked.append(effect)
        answer = answers[min(len(asked), len(answers)) - 1]
        return Reply(answer) if isinstance(answer, str) else answer

    return respond, asked


def act(
    policy: OpenClawPolicy,
    messages: Sequence[Message],
    hook: Hook,
    *answers: str | Failure,
    window: int = 64_000,
    guarded: bool = False,
    talk: Conversation | None = None,
    turn: int | None = None,
) -> tuple[Conversation, tuple[Pass, ...], list[Ask]]:
    """Lets a policy act at one point of the loop."""
    held = talk or conversation(messages)
    held.turn = len(held.log) if turn is None else turn
    respond, asked = answering(*(answers or (GOOD,)))
    around = Surroundings(model=ModelLimits(name="m", window=window))
    run = manage(held, policy, hook, around, guarded=guarded)
    answer: Any = None
    while True:
        try:
            effect = run.send(answer)
        except StopIteration as end:
            return held, end.value, asked
        answer = respond(effect)


def shown(talk: Conversation) -> list[int | str]:
    """Indices of the list, `S` for a summary."""
    return [item.index if item.index is not None else "S" for item in talk.outgoing]
