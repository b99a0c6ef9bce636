"""OpenHarness' estimate: four characters a token, each text by itself, pictures at a fixed price, and a third on top."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.policies.openharness.config import OpenHarnessConfig


@dataclass(frozen=True, slots=True)
class OpenHarnessSize:
    """Tokens of a message before the factor.

    Attributes:
        chars_per_token: Characters of one token.
        image_tokens: Tokens of one picture.
        only_text: Whether nothing but what is said counts.
    """

    chars_per_token: int = 4
    image_tokens: int = 3_072
    only_text: bool = False

    def __call__(self, message: Message) -> int:
        """Tokens of one message."""
        if self.only_text:
            return (
                0
                if message.role == "tool"
                else sum(self.text(one.text) for one in message.parts if isinstance(one, Text))
            )
        return sum(map(self._part, message.parts)) + sum(map(self._call, message.calls))

    def text(self, text: str) -> int:
        """Tokens of one text."""
        return -(-len(text) // self.chars_per_token)

    def _part(self, part: object) -> int:
        if isinstance(part, Text):
            return self.text(part.text)
        return self.image_tokens if isinstance(part, Image) else 0

    def _call(self, call: ToolCall) -> int:
        value = call.parsed()
        return self.text(call.name) + self.text(call.arguments if value is None else str(value))


class OpenHarnessEstimate:
    """Tokens of a list, factor included.

    Args:
        config: Figures of the estimate.
    """

    def __init__(self, config: OpenHarnessConfig) -> None:
        self.size = OpenHarnessSize(config.chars_per_token, config.image_tokens, config.counts_only_text)
        self.padding = config.padding

    def __call__(self, items: Iterable[Item]) -> int:
        """Tokens of some items."""
        if isinstance(items, ModelInput):
            return self.padded(items.messages.tokens(self.size))
        return self.padded(sum(self.size(item.message) for item in items))

    def padded(self, tokens: int) -> int:
        """A plain sum with the factor."""
        return int(tokens * self.padding)
