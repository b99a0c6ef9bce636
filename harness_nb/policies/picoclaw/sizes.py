"""PicoClaw's estimate: two and a half characters a token."""

from __future__ import annotations

import json
from collections.abc import Iterable

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message

IMAGE_TOKENS = 256
_FRAME_CHARS = 12
_CALL_TYPE = "function"


def tokens_of_chars(chars: int) -> int:
    """Tokens of a message of so many characters and nothing else."""
    return (chars + _FRAME_CHARS) * 2 // 5


def message_tokens(message: Message) -> int:
    """Tokens of a message: characters of what it says, bytes of what it calls, and a price for each picture."""
    chars = len(message.text) + _reasoning_chars(message)
    for call in message.calls:
        chars += len(_CALL_TYPE) + sum(map(_bytes, (call.id, call.name, call.arguments)))
    chars += _bytes(message.call_id or "")
    return tokens_of_chars(chars) + IMAGE_TOKENS * sum(isinstance(part, Image) for part in message.parts)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _reasoning_chars(message: Message) -> int:
    if not message.rest:
        return 0
    found = json.loads(message.rest).get("reasoning_content")
    return len(found) if isinstance(found, str) else 0


def items_tokens(items: Iterable[Item]) -> int:
    """Tokens of some items."""
    return sum(message_tokens(item.message) for item in items)
