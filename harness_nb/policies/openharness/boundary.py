"""The list after a compaction: a marker with its figures, what stands for the older part, what stays, and what goes behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.policies.openharness.peers import peers_of
from harness_nb.policies.openharness.sizes import OpenHarnessEstimate

Kind = Literal["full", "session_memory"]

_TEXT = (
    "[Compaction marker]\n"
    "What was said before this point was made shorter. Go by what stands in its place below, and by the latest messages, "
    "which were kept below.\n"
    "Why: {trigger}\nHow: {of}\nSize before: messages={messages}, tokens={tokens}"
)
_AFTER = "\nSize of the list after: messages={messages}, tokens={tokens}"
"""Texts as long as OpenHarness' own, so that figures are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What a marker says.

    Attributes:
        trigger: `auto`, `reactive` or `manual`.
        of: Which compaction: `full` or `session_memory`.
        messages: Messages before.
        tokens: Estimated tokens before.
    """

    trigger: str
    of: Kind
    messages: int
    tokens: int

    def item(self, after: tuple[int, int] | None = None) -> Item:
        """The marker; `after` are messages and tokens of the new list."""
        text = _TEXT.format(trigger=self.trigger, of=self.of, messages=self.messages, tokens=self.tokens)
        meta: dict[str, object] = {"openharness": "boundary", "trigger": self.trigger, "of": self.of}
        meta["before"] = [self.messages, self.tokens]
        if after is not None:
            text += _AFTER.format(messages=after[0], tokens=after[1])
            meta["after"] = list(after)
        return edits.note(text, meta=meta)


def rebuilt(
    boundary: Boundary, rest: Sequence[Item], estimate: OpenHarnessEstimate, *, again: bool = False
) -> tuple[Item, ...]:
    """The marker and all that comes behind it.

    The marker's figure of tokens is that of the list with a shorter marker; `again` works it out once more.
    """
    made = (boundary.item(), *rest)
    for _ in range(2 if again else 1):
        made = (boundary.item((len(peers_of(made)), estimate(made))), *rest)
    return made
