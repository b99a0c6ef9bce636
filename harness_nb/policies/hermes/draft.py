"""One compaction of a list before a model is asked: what is shortened, where it is cut, and what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        earlier: Text of the earlier summary that is updated, or empty.
        is_update: Whether there is one.
        focus: What the summary is to be about above all.
        budget_tokens: Length asked for.
    """

    before: tuple[Item, ...]
    pruned: Pruned
    head: int
    cut: int
    turns: tuple[Item, ...]
    earlier: str
    is_update: bool
    focus: Focus
    budget_tokens: int

    @property
    def middle(self) -> tuple[Item, ...]:
        """What the summary takes the place of."""
        return self.pruned.items[self.head : self.cut]

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
    turns, earlier, is_update = _turns(short.items, head, at, config, record)
    budget = int(size.of(item.message for item in turns) * config.summary_ratio)
    return Draft(
        before=tuple(items),
        pruned=short,
        head=head,
        cut=at,
        turns=turns,
        earlier=earlier,
        is_update=is_update,
        focus=focus_of(items, topic),
        budget_tokens=max(config.summary_min_tokens, min(budget, limits.summary_ceiling)),
    )


def _turns(
    items: Sequence[Item], head: int, at: int, config: HermesConfig, record: HermesRecord
) -> tuple[tuple[Item, ...], str, bool]:
    """What is summarised: only what comes after an earlier summary, and what came before it is lost."""
    start = 1 if items and items[0].message.role == "system" else 0
    found = next((one for one in range(at - 1, start - 1, -1) if is_summary(items[one])), None)
    if found is None:
        return tuple(items[head:at]), record.earlier, bool(record.earlier)
    earlier = body_of(items[found])
    if config.feed_decayed_head:
        kept = [item for one, item in enumerate(items[head:at], head) if one != found or is_request(item)]
        return tuple(kept), earlier, True
    return tuple(items[max(head, found + 1) : at]), earlier, True
