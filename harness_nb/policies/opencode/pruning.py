"""Clearing old results after a turn, newest first, until a summary or an older clearing is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.policies.opencode.config import OpenCodeConfig
from harness_nb.policies.opencode.session import Step
from harness_nb.policies.opencode.sizes import text_tokens


@dataclass(frozen=True, slots=True)
class Pruning:
    """What clearing would do.

    Attributes:
        indices: Log indices of the results that can go.
        seen: Tokens of the results that were looked at.
        prunable: Tokens of those that can go.
    """

    indices: frozenset[int] = frozenset()
    seen: int = 0
    prunable: int = 0


def pruning(steps: Sequence[Step], config: OpenCodeConfig) -> Pruning:
    """Looks for results that can go: old ones, behind the newest that are protected."""
    if not config.prune:
        return Pruning()
    seen = prunable = 0
    found = []
    for item in _old_results(steps, config):
        size = text_tokens(item.message.text)
        seen += size
        if seen > config.prune_protect and item.index is not None:
            prunable += size
            found.append(item.index)
    return Pruning(frozenset(found), seen, prunable)


def _old_results(steps: Sequence[Step], config: OpenCodeConfig) -> list[Item]:
    """Results that clearing may look at, newest first."""
    found: list[Item] = []
    users = 0
    for step in reversed(steps):
        users += step.kind in ("user", "marker")
        if users < config.prune_turns:
            continue
        if step.kind == "summary":
            break
        for item in reversed(_by_call(step, config)):
            if item.how == "cleared":
                return found
            found.append(item)
    return found


def _by_call(step: Step, config: OpenCodeConfig) -> list[Item]:
    """The results of a step in the order of its calls, without those of failed calls and of protected tools."""
    results = {item.message.call_id: item for item in step.items if item.message.role == "tool"}
    calls = [call for item in step.items for call in item.message.calls]
    found = [results[call.id] for call in calls if call.id in results and call.name not in config.prune_tools]
    return [item for item in found if item.message.status != "error"]
