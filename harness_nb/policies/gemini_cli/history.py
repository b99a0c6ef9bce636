"""A list as Gemini CLI sees it: the history without what is about to be sent, in turns, with the environment before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness_nb.core.item import Item
from harness_nb.core.view import View
from harness_nb.policies.gemini_cli.config import GeminiCliConfig
from harness_nb.policies.gemini_cli.sizes import QUARTERS, Part, Sizes, text_part
from harness_nb.policies.gemini_cli.turns import Turn, positions, tokens, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was said before the request in the making.

    Attributes:
        items: The messages.
        pending: What the request adds, which no compression sees.
        environment: Text that comes first, which is not in the list.
        counted: The environment where it counts as a turn of the history, else empty.
        sizes: Gives a message's parts.
        merge: Whether neighbours of one role are one turn.
    """

    items: tuple[Item, ...]
    pending: tuple[Item, ...]
    environment: str
    counted: str
    sizes: Sizes
    merge: bool

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The history in turns."""
        return turns(self.items, self.sizes, environment=self.counted, merge=self.merge)

    @property
    def tokens(self) -> int:
        """Token estimate of the history."""
        return tokens(self.turns)

    @property
    def environment_part(self) -> tuple[Part, ...]:
        """The environment as a part of a turn."""
        return (text_part(self.environment),) if self.environment else ()

    def becomes(self, items: Sequence[Item]) -> History:
        """The history with other messages."""
        return replace(self, items=tuple(items))

    @property
    def curated(self) -> tuple[Item, ...]:
        """The messages without runs of answers in which one is blank."""
        return tuple(self.items[at] for at in positions(self.turns))


def history(view: View, config: GeminiCliConfig, sizes: Sizes) -> History:
    """The history of a view. At a request, the latest prompt or the latest results are what is about to be sent."""
    items = view.input[:]
    at = len(items) - (_pending(items) if view.hook in ("request", "overflow") else 0)
    environment = str(view.host.get("memory") or "")
    return History(
        items=items[:at],
        pending=items[at:],
        environment=environment,
        counted=environment if config.environment_in_history else "",
        sizes=sizes,
        merge=config.merge_turns,
    )


def _pending(items: Sequence[Item]) -> int:
    """How many items at the end the request adds: one prompt, or the results of the latest answer."""
    if items and items[-1].message.role == "user":
        return 1
    count = 0
    while count < len(items) and items[-1 - count].message.role == "tool":
        count += 1
    return count


def estimated(view: View, past: History) -> int:
    """Token estimate of a history whose messages are those of a view; a message is measured once."""
    talk, stop = view.input.messages, len(past.items)
    if talk.tokens(past.sizes.invalid, 0, stop):
        return past.tokens
    before = text_part(past.counted).quarters if past.counted else 0
    return (before + talk.tokens(past.sizes.quarters, 0, stop)) // QUARTERS
