"""What every model is: something that streams one reply to one request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.tool import Tool
from harness_nb.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model.

    Attributes:
        messages: The whole model input, system prompt first.
        tools: Tools that the model may call.
        purpose: Why it is asked: `chat`, `summary`, `flush`, `consolidation`, or a policy's own word.
        max_tokens: Limit on the reply in tokens, or None for the model's own.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    purpose: str = "chat"
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A further piece of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A further piece of a tool call, for display only: calls count when the reply is complete.

    Attributes:
        position: Place of the call in the reply, 0 for the first.
        name: Name of the tool, in the piece that brings it.
        arguments: A further piece of the arguments' text.
    """

    position: int
    name: str = ""
    arguments: str = ""


Delta = TextDelta | ThinkingDelta | CallDelta


class Model(Protocol):
    """A model.

    `stream` yields deltas and, last, the complete assistant message with usage and finish reason where known. It raises
    a `ModelError` (of the subclass that says what the caller can do) with the provider's exception as its cause.

    A model that counts tokens in a way of its own, without cost, says so by an attribute `counter` (a `TokenCounter`).
    """

    @property
    def limits(self) -> ModelLimits:
        """What the model takes."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """Asks the model."""
        ...


async def complete(model: Model, request: ModelRequest) -> Message:
    """Asks the model and waits for the whole reply.

    Raises:
        ModelError: The model failed, or ended without a reply.
    """
    reply = None
    async for piece in model.stream(request):
        if isinstance(piece, Message):
            reply = piece
    if reply is None:
        raise ModelError(
            f"{model.limits.name!r} ended its stream without a reply.", "Ask again, or choose another model."
        )
    return reply
