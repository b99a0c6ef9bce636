"""The path that a conversation took, in a file whose entries form a tree: an entry names its parent.

Going back and saying something else starts a new branch; the last entry of the file lies on the branch that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Link(NamedTuple):
    """An entry's own id and that of the entry before it; None where the file does not say."""

    id: str | None
    parent: str | None


def path_taken(links: Sequence[Link]) -> frozenset[int]:
    """Positions on the way from the first entry to the last.

    An entry whose parent is not in the file, or stands after it, follows the entry before it in the file: so nothing is
    lost where a chain is broken.
    """
    place_of = {link.id: position for position, link in enumerate(links) if link.id is not None}
    taken: set[int] = set()
    position = len(links) - 1
    while position >= 0:
        taken.add(position)
        named = links[position].parent
        parent = place_of.get(named, position) if named is not None else position
        position = parent if parent < position else position - 1
    return frozenset(taken)
