"""Seahorse's nodes: a leaf stands for messages in a row, a condensed node for nodes, and each says of what it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from xml.sax.saxutils import escape

from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message
from harness_nb.policies.picoclaw.pipeline import KEY
from harness_nb.policies.picoclaw.sizes import message_tokens

_QUOTES = {'"': "&quot;", "'": "&apos;"}
_STEP = 100
"""Distance of two messages in the order of a conversation; nodes stand between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A summary in the tree.

    Attributes:
        id: Its name, `s1` for the first one that was made.
        depth: 0 for a leaf, one more than its deepest source for a condensed node.
        text: The summary.
        tokens: Its size.
        level: How it was made: 1 as asked for, 2 shorter, 3 cut from its sources without a model.
        source_tokens: Tokens of its sources.
        sources: Ids of the nodes that it was made of; empty for a leaf.
        messages: Log indices of the messages that a leaf was made of.
        descendants: Nodes below it.
        previous: Ids of the nodes that a leaf was shown as context.
        place: Where it stands in the order of the conversation.
        below: The nodes that it was made of, without their texts.
    """

    id: str
    depth: int
    text: str
    tokens: int
    level: int
    source_tokens: int
    sources: tuple[str, ...] = ()
    messages: tuple[int, ...] = ()
    descendants: int = 0
    previous: tuple[str, ...] = ()
    place: int = 0
    below: tuple[Node, ...] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether it stands for messages."""
        return self.depth == 0

    def every(self) -> tuple[Node, ...]:
        """It and all nodes below it."""
        return (self, *(node for one in self.below for node in one.every()))

    @property
    def xml(self) -> str:
        """How the model sees it."""
        kind = "leaf" if self.is_leaf else "condensed"
        refs = "".join(f'\n  <source id="{one}" />' for one in self.sources)
        opening = f'<summary id="{self.id}" kind="{kind}" depth="{self.depth}" descendants="{self.descendants}">'
        return f"{opening}\n{escape(self.text, _QUOTES)}{refs}\n</summary>"


def node_item(node: Node, of: Iterable[Item], *, failed: str = "", assumed: bool = False) -> Item:
    """A node as a line of the list, in the system prompt."""
    record: dict[str, object] = {KEY: "node", "node": asdict(_bare(node, keeps_text=True))}
    record |= {"failed": failed} if failed else {}
    record |= {"assumed": True} if assumed else {}
    return Item(None, Message.system(node.xml), "summary", covered(of), record)


def _bare(node: Node, *, keeps_text: bool) -> Node:
    below = tuple(_bare(one, keeps_text=False) for one in node.below)
    return replace(node, below=below, text=node.text if keeps_text else "")


def node_of(item: Item) -> Node | None:
    """The node that an item shows, or None for a message."""
    found = item.meta.get("node")
    return _read(found) if isinstance(found, Mapping) else None


def _read(record: Mapping[str, Any]) -> Node:
    """A node of its record, which may have been through a file."""
    lists = {name: tuple(record.get(name) or ()) for name in ("sources", "messages", "previous")}
    below = tuple(_read(one) for one in record.get("below") or ())
    return Node(**{**record, **lists, "below": below})


def is_node(item: Item) -> bool:
    """Whether an item shows a node."""
    return "node" in item.meta


def tokens_of(item: Item) -> int:
    """Tokens of an item: those of the message, or those that a node was counted with."""
    found = item.meta.get("node")
    return int(found["tokens"]) if isinstance(found, Mapping) else message_tokens(item.message)


def place_of(item: Item) -> int:
    """Where an item stands in the order of the conversation."""
    node = node_of(item)
    return node.place if node is not None else ((item.index or 0) + 1) * _STEP


def next_id(items: Sequence[Item]) -> str:
    """The name of the next node."""
    made = [int(one.id[1:]) for item in items if (node := node_of(item)) is not None for one in node.every()]
    return f"s{max(made, default=0) + 1}"
