"""Ways to ask a model in a test."""

from __future__ import annotations

import asyncio
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.tool import Tool
from harness_nb.model.base import Delta, Model, ModelRequest


def ask(model: Model, *messages: Message | str, **fields: Any) -> Message:
    """The whole reply."""
    last = stream(model, *messages, **fields)[-1]
    assert isinstance(last, Message)
    return last


def stream(model: Model, *messages: Message | str, **fields: Any) -> list[Delta | Message]:
    """All that the model yields."""
    return asyncio.run(_collected(model, request(*messages, **fields)))


def request(*messages: Message | str, **fields: Any) -> ModelRequest:
    """A request; a text is what the user says."""
    return ModelRequest(
        messages=tuple(Message.user(one) if isinstance(one, str) else one for one in messages), **fields
    )


async def _collected(model: Model, asked: ModelRequest) -> list[Delta | Message]:
    return [piece async for piece in model.stream(asked)]


def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


def memory_search(query: str) -> str:
    """Searches the memory."""
    return query


TOOLS = (Tool.of(add), Tool.of(memory_search))
