"""The budget of tool outputs: newest first, what runs over it goes to a file and stays as head and tail."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item
from harness_nb.core.requests import Evict
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import View
from harness_nb.policies.gemini_cli.outputs import shortened
from harness_nb.policies.gemini_cli.sizes import text_tokens


def within_budget(view: View, items: Sequence[Item], budget: int, display: int) -> tuple[Item, ...]:
    """The items with tool outputs over the budget shortened; one that can't be filed stays, and counts in full.

    An output over the budget that is no longer than `display` is filed and stays whole, so the budget is no bound.

    Args:
        view: Knows what came of filing.
        items: The list.
        budget: Tokens of outputs that stay whole, newest first.
        display: UTF-16 units that stay of one over the budget.
    """
    made = list(items)
    total = 0
    for at in reversed(range(len(made))):
        item = made[at]
        if item.message.role != "tool":
            continue
        if total + text_tokens(item.message.text) > budget:
            made[at] = filed(view, item, display)
        total += text_tokens(made[at].message.text)
    return tuple(made)


def filed(view: View, item: Item, display: int) -> Item:
    """A result that went to a file, shortened where it is longer than `display`."""
    text = item.message.text
    if item.index is None:
        return item
    reply = view.reply(Evict(index=item.index, call_id=item.message.call_id or "", text=text))
    if reply.failure is not None or utf16_len(text) <= display:
        return item
    return shortened(item, display, reply.text)
