"""Usage as the built-in models report it: four characters are a token, a picture is a fixed number of them."""

from __future__ import annotations

from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, Usage
from harness_nb.core.tokens import IMAGE_TOKENS
from harness_nb.model.base import ModelRequest

CHARS_PER_TOKEN = 4
"""What the built-in models call a token. They have no tokenizer, so this is their definition, not an estimate."""


def tokens_of_chars(chars: int) -> int:
    """Tokens of a text of that many characters, rounded up."""
    return -(-chars // CHARS_PER_TOKEN)


def message_chars(message: Message) -> int:
    """Characters of one message that a model reads: texts, reasoning, and calls with their arguments."""
    if isinstance(message.content, str) and not message.calls:
        return len(message.content)
    called = sum(len(call.name) + len(call.arguments) for call in message.calls)
    return called + sum(map(_part_chars, message.parts))


def _part_chars(part: Text | Image | Thinking | Opaque) -> int:
    match part:
        case Text() | Thinking():
            return len(part.text)
        case Image():
            return IMAGE_TOKENS * CHARS_PER_TOKEN
        case Opaque():
            return len(part.raw)


def input_tokens(request: ModelRequest) -> int:
    """Tokens of a whole request, tool schemas included."""
    chars = sum(map(message_chars, request.messages))
    chars += sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    return tokens_of_chars(chars)


def counted_usage(request: ModelRequest, reply: Message) -> Usage:
    """Usage of one exchange, free of charge."""
    return Usage(input_tokens(request), tokens_of_chars(message_chars(reply)), cost=0.0)
