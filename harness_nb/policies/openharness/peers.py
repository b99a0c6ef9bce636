"""OpenHarness' own messages: a run of tool results is one message of the user's; and where a list of them is cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Text, ToolCall


@dataclass(frozen=True, slots=True)
class Peer:
    """One of its messages.

    Attributes:
        items: One item, or a run of results.
    """

    items: tuple[Item, ...]

    @property
    def role(self) -> Literal["user", "assistant"]:
        """Who says it; results count as the user's."""
        return "assistant" if self.items[0].message.role == "assistant" else "user"

    @property
    def has_results(self) -> bool:
        """Whether it is a run of results."""
        return self.items[0].message.role == "tool"

    @property
    def text(self) -> str:
        """What is said, without results."""
        if self.has_results:
            return ""
        return "".join(part.text for part in self.items[0].message.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of an assistant."""
        return self.items[0].message.calls

    @property
    def call_ids(self) -> frozenset[str]:
        """Ids of the calls that its results answer."""
        return frozenset(item.message.call_id or "" for item in self.items if item.message.role == "tool")

    @property
    def is_empty(self) -> bool:
        """Whether there is neither text nor a picture, a call or a result."""
        message = self.items[0].message
        return not (
            self.has_results
            or message.calls
            or self.text.strip()
            or any(isinstance(one, Image) for one in message.parts)
        )

    @property
    def begins_round(self) -> bool:
        """Whether it is a prompt: text of the user's."""
        return self.role == "user" and not self.has_results and bool(self.text.strip())


Peers = tuple[Peer, ...]


def peers_of(items: Iterable[Item]) -> Peers:
    """A list as its messages."""
    found: list[Peer] = []
    for item in items:
        if item.message.role == "tool" and found and found[-1].has_results:
            found[-1] = Peer((*found[-1].items, item))
        else:
            found.append(Peer((item,)))
    return tuple(found)


def items_of(peers: Iterable[Peer]) -> tuple[Item, ...]:
    """Messages as a list."""
    return tuple(item for peer in peers for item in peer.items)


def split(peers: Sequence[Peer], keep: int, *, pair_safe: bool = True) -> tuple[Peers, Peers]:
    """Messages in two: what may go, and the newest ones that stay, without what a provider would refuse.

    Args:
        peers: All of them.
        keep: How many stay; one more when the cut would part calls from their results.
        pair_safe: False cuts where it was told, and leaves everything.
    """
    at = max(0, len(peers) - keep)
    if not pair_safe:
        return tuple(peers[:at]), tuple(peers[at:])
    while 0 < at < len(peers) and _belongs(peers[at - 1], peers[at]):
        at -= 1
    return tuple(peers[:at]), sanitized(peers[at:])


def _belongs(before: Peer, peer: Peer) -> bool:
    return bool(peer.call_ids & {call.id for call in before.calls})


def sanitized(peers: Iterable[Peer]) -> Peers:
    """Messages without empty answers, without calls that are not all answered at once, and without results of no call."""
    kept: list[Peer] = []
    pending: frozenset[str] = frozenset()
    for peer in peers:
        if peer.role == "assistant" and peer.is_empty:
            continue
        answered = bool(pending) and pending <= peer.call_ids
        if pending and not answered:
            kept.pop()
        left = _answering(peer, pending if answered else frozenset())
        pending = frozenset()
        if left is not None:
            kept.append(left)
            pending = frozenset(call.id for call in left.calls)
    return tuple(kept[:-1] if pending else kept)


def _answering(peer: Peer, pending: frozenset[str]) -> Peer | None:
    """A message with those of its results that answer a pending call; None where none is left."""
    if not peer.has_results:
        return peer
    items = tuple(item for item in peer.items if item.message.call_id in pending)
    return Peer(items) if items else None


def without_oldest(peers: Sequence[Peer]) -> Peers | None:
    """The messages without the oldest fifth of their rounds, one at least; None when there is no second round."""
    starts = [at for at, peer in enumerate(peers) if peer.begins_round and at > 0]
    if not starts:
        return None
    rounds = len(starts) + 1
    return tuple(peers[starts[max(1, rounds // 5) - 1] :])
