"""One compaction of a list before a model is asked: what is shortened, where it is cut, and what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness_nb.core.item import Item
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.policies.hermes.body import last_request
from harness_nb.policies.hermes.config import HermesConfig, Thresholds
from harness_nb.policies.hermes.cutting import can_compress, cut, head_end
from harness_nb.policies.hermes.marks import body_of, is_request, is_summary
from harness_nb.policies.hermes.pruning import Pruned, pruned
from harness_nb.policies.hermes.record import HermesRecord
from harness_nb.policies.hermes.request import Focus, focus_of, serialised, summary_ask
from harness_nb.policies.hermes.sizes import PrintedSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A compaction that is to be made.

    Attributes:
        before: The list.
        pruned: The list with old results and arguments shortened.
        head: Position behind the protected start.
        cut: Position of the first message that is kept at the end.
        turns: What is handed to the model.
        updated: The earlier summary that is updated, None where the list has none.
        earlier: Its text, or empty.
        focus: What the summary is to be about above all.
        budget_tokens: Length asked for.
    """

    before: tuple[Item, ...]
    pruned: Pruned
    head: int
    cut: int
    turns: tuple[Item, ...]
    updated: Item | None
    earlier: str
    focus: Focus
    budget_tokens: int

    @property
    def middle(self) -> tuple[Item, ...]:
        """What leaves the list."""
        return self.pruned.items[self.head : self.cut]

    @property
    def represented(self) -> tuple[Item, ...]:
        """What the new summary stands for: what was handed over, and what the earlier one stood for; the rest is lost."""
        if self.updated is None:
            return self.turns
        return (*self.turns, replace(self.updated, index=None))

    @property
    def is_update(self) -> bool:
        """Whether an earlier summary is updated."""
        return self.updated is not None or bool(self.earlier)

    @property
    def request(self) -> Item | None:
        """The last real message of the user that is handed over."""
        return last_request(self.turns)

    @property
    def input_chars(self) -> int:
        """Length of the turns as the model is shown them."""
        return len(serialised(self.turns))

    def ask(self, view: View, config: HermesConfig, model: str | None) -> Ask:
        """The request for the summary."""
        provided = view.host.get("pre_compress", "")
        return summary_ask(
            self.turns,
            earlier=self.earlier,
            focus=self.focus,
            budget_tokens=self.budget_tokens,
            now=view.now,
            model=model,
            timeout_seconds=config.summary_timeout_seconds,
            provided=provided if isinstance(provided, str) else "",
        )


def drafted(
    items: Sequence[Item],
    *,
    config: HermesConfig,
    limits: Thresholds,
    record: HermesRecord,
    size: PrintedSize,
    topic: str = "",
) -> Draft | None:
    """What a compaction of a list would do; None when there is nothing to compress."""
    head = head_end(items, config, record.compactions)
    if not can_compress(items, head):
        return None
    short = pruned(items, config, limits.tail)
    at = cut(short.items, head, config, limits)
    if at <= head:
        return None
    turns, updated = _turns(short.items, head, at, config)
    budget = int(size.of(item.message for item in turns) * config.summary_ratio)
    return Draft(
        before=tuple(items),
        pruned=short,
        head=head,
        cut=at,
        turns=turns,
        updated=updated,
        earlier=body_of(updated) if updated is not None else record.earlier,
        focus=focus_of(items, topic),
        budget_tokens=max(config.summary_min_tokens, min(budget, limits.summary_ceiling)),
    )


def _turns(items: Sequence[Item], head: int, at: int, config: HermesConfig) -> tuple[tuple[Item, ...], Item | None]:
    """What is summarised, and the earlier summary: only what comes after it counts, and what came before it is lost."""
    start = 1 if items and items[0].message.role == "system" else 0
    found = next((one for one in range(at - 1, start - 1, -1) if is_summary(items[one])), None)
    if found is None:
        return tuple(items[head:at]), None
    if config.feed_decayed_head:
        kept = [item for one, item in enumerate(items[head:at], head) if one != found or is_request(item)]
        return tuple(kept), items[found]
    return tuple(items[max(head, found + 1) : at]), items[found]
