"""The Seahorse manager: a leaf after each turn, leaves condensed above the window, and all of it in the system prompt."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.requests import Failure
from harness_nb.core.view import View
from harness_nb.policies.picoclaw import writing
from harness_nb.policies.picoclaw.assembling import Assembled, assemble, hint_for
from harness_nb.policies.picoclaw.config import SeahorseConfig
from harness_nb.policies.picoclaw.nodes import Node, is_node, next_id, node_of, tokens_of
from harness_nb.policies.picoclaw.pipeline import KEY, PicoClawPolicy
from harness_nb.policies.picoclaw.tree import candidates, chunk, with_node
from harness_nb.policies.picoclaw.turns import sanitised

_HINTS = {
    "mild": "Earlier messages stand above as summaries. Look details up with session_search and session_history where you need them.",
    "strong": "Most of this conversation stands above as summaries of summaries. State no command, path, time or number from "
    "them before you have looked it up with session_search and session_history.",
}


class SeahorsePolicy(PicoClawPolicy):
    """Makes a leaf of the oldest messages after each turn, and condenses leaves when the window is full.

    Args:
        config: Settings.
        name: Shown in events.
    """

    name = "picoclaw"
    node_of = staticmethod(node_of)
    tokens_of = staticmethod(tokens_of)
    shown_nodes = staticmethod(writing.shown_nodes)

    def __init__(self, config: SeahorseConfig | None = None, *, name: str = "picoclaw") -> None:
        self.config = config or SeahorseConfig()
        super().__init__(self.config, name=name)

    # After a turn, and when a request does not fit

    def after_turn(self, view: View, *, forced: bool = False) -> Plan:
        """One leaf, and condensing when the list is larger than the window."""
        if not self.config.compact_every_turn and not forced:
            return view.unchanged("no compaction after a turn", outcome="noop", pressure=self.stored(view))
        items = self.bare(view.input)
        after = self._leaf(view, items)
        if isinstance(after, Failure):
            return view.unchanged(f"the leaf failed: {after.detail}", outcome="failed", pressure=self.stored(view))
        items = after or items
        if sum(map(tokens_of, items)) > view.model.window * self.config.condense_at:
            items = self._condense(view, items)
        return self._planned(view, items)

    def ahead(self, view: View) -> Plan:
        """The same as after a turn."""
        return self.after_turn(view, forced=True)

    def recovered(self, view: View) -> Plan:
        """Leaves of whatever there is, and condensed nodes, until the list is no larger than the window."""
        return self._planned(view, self.until_under(view)[0])

    def until_under(self, view: View) -> tuple[tuple[Item, ...], int, str]:
        """The list after that, the steps that it took, and how it ended: `under`, `no progress` or `cap`."""
        items = self.bare(view.input)
        for steps in range(self.config.most_rounds):
            if sum(map(tokens_of, items)) <= view.model.window:
                return items, steps, "under"
            after = self._leaf(view, items, forced=True)
            after = after if after is not None else self._condensed(view, items)
            if after is None or isinstance(after, Failure):
                return items, steps, "no progress" if after is None else "error"
            items = after
        return items, self.config.most_rounds, "cap"

    def _leaf(self, view: View, items: tuple[Item, ...], *, forced: bool = False) -> tuple[Item, ...] | Failure | None:
        piece = chunk(items, self.config, forced=forced)
        if piece is None:
            return None
        tokens = sum(map(tokens_of, piece.items))
        text = writing.leaf(piece, self.config, tokens, view.reply)
        if isinstance(text, Failure):
            return text
        node = Node(
            id=next_id(items),
            depth=0,
            text=text.text,
            tokens=text.tokens,
            level=text.level,
            source_tokens=tokens,
            messages=covered(piece.items),
            previous=tuple(one.id for one in piece.previous),
        )
        return with_node(items, piece.items, node, assumed=text.assumed)

    def _condense(self, view: View, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """Condenses as long as the list gets smaller."""
        while True:
            after = self._condensed(view, items)
            if after is None or isinstance(after, Failure):
                return items
            is_smaller = sum(map(tokens_of, after)) < sum(map(tokens_of, items))
            items = after
            if not is_smaller:
                return items

    def _condensed(self, view: View, items: tuple[Item, ...]) -> tuple[Item, ...] | Failure | None:
        of = candidates(items, self.config)
        if not of:
            return None
        text = writing.condensed(of, self.config, view.reply)
        if isinstance(text, Failure):
            return text
        nodes = tuple(node for item in of if (node := node_of(item)) is not None)
        node = Node(
            id=next_id(items),
            depth=max(one.depth for one in nodes) + 1,
            text=text.text,
            tokens=text.tokens,
            level=text.level,
            source_tokens=sum(one.tokens for one in nodes),
            sources=tuple(one.id for one in nodes),
            descendants=sum(one.descendants + 1 for one in nodes),
            below=nodes,
        )
        return with_node(items, of, node, assumed=text.assumed)

    def _planned(self, view: View, items: tuple[Item, ...]) -> Plan:
        pressure = self.stored(view)
        if items == self.bare(view.input):
            return view.unchanged("nothing to summarise", outcome="noop", pressure=pressure)
        saved = sum(map(tokens_of, self.bare(view.input))) - sum(map(tokens_of, items))
        return view.becomes(
            hinted(items), f"summaries took {saved:,} tokens less", outcome="compressed", pressure=pressure
        )

    def stored(self, view: View) -> Pressure:
        """How full the window is by the list alone."""
        tokens = sum(map(tokens_of, self.bare(view.input)))
        most = round(view.model.window * self.config.condense_at) + 1
        trigger = Trigger(name="condense_at", value=tokens, threshold=most)
        return Pressure(
            tokens=tokens,
            window=view.model.window,
            triggers=(trigger,),
            source="estimated by characters/2.5, without system prompt and schemas",
        )

    # The request

    def bare(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """A list without the hint."""
        return tuple(item for item in items if item.meta.get(KEY) != "hint")

    def budget(self, view: View) -> int:
        """Tokens of the window without the reply's reserve; half of the window where that leaves nothing."""
        left = view.model.window - self.config.reply_tokens(view.model)
        return left if left > 0 else view.model.window // 2

    def assembly(self, view: View) -> Assembled:
        """What of the list a request sends, and why."""
        return assemble(self.bare(view.input), budget=self.budget(view), fresh_tail=self.config.fresh_tail)

    def assembled(self, view: View) -> tuple[Item, ...]:
        """What of the list a request sends, with the hint."""
        return hinted(self.assembly(view).items)

    def dropped_by_clean_up(self, items: Sequence[Item]) -> list[int]:
        """Log indices of messages that the clean-up before a call would drop from a list."""
        left = {item.index for item in sanitised(items)}
        return [item.index for item in items if item.index is not None and item.index not in left]

    def nodes(self, items: Sequence[Item]) -> tuple[Node, ...]:
        """All nodes that a list knows of, in the order in which they were made."""
        every = [one for item in items if (node := node_of(item)) is not None for one in node.every()]
        return tuple(sorted(every, key=lambda node: int(node.id[1:])))


def hinted(items: Sequence[Item]) -> tuple[Item, ...]:
    """A list in which a hint on how to look things up stands behind the last node."""
    kind = hint_for(items)
    if kind is None:
        return tuple(items)
    at = max(at for at, item in enumerate(items) if is_node(item)) + 1
    hint = Item(None, Message.system(_HINTS[kind]), "note", (), {KEY: "hint", "kind": kind})
    return (*items[:at], hint, *items[at:])
