"""A compacted list as one text, within a number of characters where one is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness_nb.core import pins
from harness_nb.core.item import Item
from harness_nb.core.messages import Message


@dataclass(frozen=True, slots=True)
class Shown:
    """A list as a text.

    Attributes:
        text: The text.
        left_out: Texts of the messages that had no room in it, oldest first.
        shortened: Whether what the policy wrote had to be cut, too.
    """

    text: str
    left_out: tuple[str, ...] = ()
    shortened: bool = False


def said(message: Message) -> str:
    """A message as a text: what it says, and its calls."""
    calls = [f"[calls {call.name} with {call.arguments}]" for call in message.calls]
    return " ".join(filter(None, (message.text, *calls)))


def rendered(message: Message) -> str:
    """The same with who says it."""
    return f"[{message.role}] {said(message)}"


def shown(prompt: Iterable[Message], items: Iterable[Item], budget_chars: int | None = None) -> Shown:
    """A list as a text, a paragraph for each message.

    What does not fit is left out in this order: messages that were said, the oldest first; then what the policy wrote, from
    the end, line by line; at last the note of pins and the prompt.

    Args:
        prompt: The system messages.
        items: The list.
        budget_chars: Most characters, or None for all of it.
    """
    fixed = [rendered(message) for message in prompt]
    lines = [(item, rendered(item.message)) for item in items]
    over = len("\n".join((*fixed, *(text for _, text in lines)))) - (budget_chars or 0)
    left_out = []
    for item, text in list(lines):
        if budget_chars is not None and over > 0 and item.index is not None:
            lines.remove((item, text))
            left_out.append(text)
            over -= len(text) + 1
    if budget_chars is None or over <= 0:
        return Shown("\n".join((*fixed, *(text for _, text in lines))), tuple(left_out))
    lines.sort(key=lambda line: not pins.is_note(line[0]))
    return Shown(_cut([*fixed, *(text for _, text in lines)], budget_chars), tuple(left_out), shortened=True)


def _cut(texts: list[str], most_chars: int) -> str:
    """As much of some texts, joined, as there is room for, up to the end of a line or, where it is one line, of a word."""
    whole = "\n".join(texts)
    cut = whole[:most_chars]
    return cut if len(whole) <= most_chars else cut.rpartition("\n")[0] or cut.rpartition(" ")[0]
