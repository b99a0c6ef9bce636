"""Which messages become a leaf and which nodes are condensed, and where the new node stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from harness_nb.core.item import Item
from harness_nb.policies.picoclaw.config import SeahorseConfig
from harness_nb.policies.picoclaw.nodes import Node, is_node, node_item, node_of, place_of, tokens_of


@dataclass(frozen=True, slots=True)
class Chunk:
    """Messages in a row that become a leaf.

    Attributes:
        start: Position of the first.
        items: The messages.
        previous: Up to two nodes before them, oldest first.
    """

    start: int
    items: tuple[Item, ...]
    previous: tuple[Node, ...]


def chunk(items: Sequence[Item], config: SeahorseConfig, *, forced: bool = False) -> Chunk | None:
    """The oldest messages in a row that can become a leaf, or None.

    Args:
        items: The list.
        config: Settings.
        forced: Whether the newest items may be taken, too.
    """
    said = [item for item in items if not is_node(item)]
    if len(said) < config.leaf_min and sum(map(tokens_of, said)) < config.leaf_chunk_tokens:
        return None
    stop = len(items) if forced else max(0, len(items) - config.fresh_tail)
    start, end, is_full = _run(items[:stop], config)
    if end - start < config.leaf_min and not (is_full and config.passes_large_head):
        return None
    before = [node for item in items[:start] if (node := node_of(item)) is not None]
    return Chunk(start, tuple(items[start:end]), tuple(before[-2:]))


def _run(items: Sequence[Item], config: SeahorseConfig) -> tuple[int, int, bool]:
    """Where the run of messages begins and ends, and whether it ends because it has tokens enough."""
    start, tokens = 0, 0
    for at, item in enumerate(items):
        if is_node(item):
            if at - start >= config.leaf_min:
                return start, at, False
            start, tokens = at + 1, 0
            continue
        tokens += tokens_of(item)
        if tokens >= config.leaf_chunk_tokens:
            return start, at + 1, True
    return start, len(items), False


def candidates(items: Sequence[Item], config: SeahorseConfig) -> tuple[Item, ...]:
    """The nodes that are condensed next: a row at the start that is long enough, or some of the shallowest depth."""
    old = items[: max(0, len(items) - config.fresh_tail)]
    depths = sorted({node.depth for item in items if (node := node_of(item)) is not None})
    for depth in depths:
        row = _row(old, depth, config.leaf_chunk_tokens)
        if row and sum(map(tokens_of, row)) >= config.condensed_target:
            return row
    nodes = sorted(((node.depth, item) for item in old if (node := node_of(item)) is not None), key=lambda one: one[0])
    for _, group in groupby(nodes, key=lambda one: one[0]):
        same = tuple(item for _, item in group)
        if len(same) >= config.condensed_min:
            return same[: config.condensed_min]
    return ()


def _row(items: Sequence[Item], depth: int, most_tokens: int) -> tuple[Item, ...]:
    """Nodes of one depth from the first item on."""
    row: list[Item] = []
    tokens = 0
    for item in items:
        node = node_of(item)
        if node is None or node.depth != depth or tokens + node.tokens > most_tokens:
            break
        row.append(item)
        tokens += node.tokens
    return tuple(row)


def with_node(
    items: Sequence[Item], of: Sequence[Item], node: Node, *, failed: str = "", assumed: bool = False
) -> tuple[Item, ...]:
    """A list in which a node takes the place of what it was made of.

    Nodes that do not stand in a row get it in the middle between the first and the last of them, or, where something
    stands there already, at the end of the list.
    """
    gone = {id(item) for item in of}
    first, last = (next(at for at, item in enumerate(items) if item is one) for one in (of[0], of[-1]))
    place = (place_of(of[0]) + place_of(of[-1])) // 2
    made = node_item(replace(node, place=place), of, failed=failed, assumed=assumed)
    rest = [item for item in items if id(item) not in gone]
    if last - first + 1 == len(of):
        return (*rest[:first], made, *rest[first:])
    if any(place_of(item) == place for item in rest):
        return (*rest, made)
    at = next((at for at, item in enumerate(rest) if place_of(item) > place), len(rest))
    return (*rest[:at], made, *rest[at:])
