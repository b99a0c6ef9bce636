"""The last resort before a request that can't be sent: the largest tool results go to files."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core import edits
from harness_nb.core.config import EXCLUDED_TOOLS
from harness_nb.core.item import Item
from harness_nb.core.preview import placeholder
from harness_nb.core.requests import Evict
from harness_nb.core.view import View

PREVIEW_CHARS = 500
"""Characters of head and of tail that stay of each."""

LEAST_CHARS = 4 * PREVIEW_CHARS
"""A shorter result stays."""


def largest_evicted(view: View, items: Sequence[Item], room: int) -> tuple[Item, ...]:
    """A list whose largest results are moved to files, one by one, until it fits.

    Args:
        view: The conversation.
        items: The list.
        room: Tokens that it may have.

    Returns:
        The list; the same items where nothing could be moved.
    """
    found = list(items)
    can_read = any(tool.name == "read_file" for tool in view.tools)
    for at in sorted(range(len(found)), key=lambda at: -view.measure(found[at].message)):
        if view.tokens_of(found) <= room:
            break
        if _is_movable(found[at]):
            found[at] = _evicted(view, found[at], can_read)
    return tuple(found)


def _is_movable(item: Item) -> bool:
    message = item.message
    is_plain = message.role == "tool" and item.index is not None and item.how in ("kept", "truncated", "cleared")
    return is_plain and (message.name or "") not in EXCLUDED_TOOLS and len(message.text) > LEAST_CHARS


def _evicted(view: View, item: Item, can_read: bool) -> Item:
    """The item with its result moved; as it is where the file can't be written."""
    index = item.index if item.index is not None else 0
    text = view.log[index].text
    reply = view.reply(Evict(index=index, call_id=item.message.call_id or "", text=text))
    if reply.failure is not None:
        return item
    shown = placeholder(text, reply.text, preview_chars=PREVIEW_CHARS, can_read=can_read)
    return edits.evicted(item, shown, reply.text) if len(shown) < len(item.message.text) else item
