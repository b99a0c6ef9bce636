"""What a compaction takes and what stays: the kept end, and in the old part what must not leave."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness_nb.core import pins
from harness_nb.core.config import CompactionConfig, in_tokens
from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item
from harness_nb.core.requests import ASSUMED_CHARS
from harness_nb.core.view import View
from harness_nb.policies.harness.restoring import holds_native, is_plan_note
from harness_nb.policies.harness.rooms import TAIL_SHARE, in_estimate, is_forced, room_for_input, trigger_tokens


@dataclass(frozen=True, slots=True)
class Wish:
    """A cut with what it moves.

    Attributes:
        cutoff: The cut.
        old: What is to be summarised.
        back: What stays of the old part, in order.
        recent: The kept end.
        is_last: Whether no shorter end could be kept.
    """

    cutoff: Cutoff
    old: tuple[Item, ...]
    back: tuple[Item, ...]
    recent: tuple[Item, ...]
    is_last: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing but earlier summaries would be summarised."""
        return all(item.how == "summary" for item in self.old)


def wish(config: CompactionConfig, view: View) -> Wish:
    """The cut that the settings ask for; where the request can't be sent otherwise, the first of ever shorter ends that fits."""
    done = sum(plan.changes for plan in view.done)
    if not is_forced(view):
        return _wish(config, view, _regular(config, view, done))
    steps = _steps(config, view)
    room = room_for_input(view, config.reserved)
    for number, cutoff in enumerate(steps[done:], done):
        wanted = _wish(config, view, cutoff)
        if not wanted.is_empty and _tokens_after(view, wanted) <= room:
            return replace(wanted, is_last=number + 1 >= len(steps))
    return replace(_wish(config, view, steps[-1]), is_last=True)


def recent_start(config: CompactionConfig, view: View) -> int:
    """Position where the newest messages begin that the settings keep."""
    return _cutoff(view, config.keep_messages, in_tokens(config.keep_tokens, view.model.window)).index


def _tokens_after(view: View, wanted: Wish) -> int:
    """Tokens of the whole input once the old part is a summary of the usual length."""
    kept = view.measure.total(item.message for item in (*wanted.back, *wanted.recent))
    return round((view.fixed_tokens + kept + view.measure.text("." * ASSUMED_CHARS)) * view.scale)


def _wish(config: CompactionConfig, view: View, cutoff: Cutoff) -> Wish:
    before = [item for item in view.input[: cutoff.index] if not (pins.is_note(item) or is_plan_note(item))]
    kept = view.kept_indices
    stays = [item.index in kept or (config.keep_native and holds_native(item.message)) for item in before]
    return Wish(
        cutoff,
        tuple(item for item, stay in zip(before, stays, strict=True) if not stay),
        tuple(item for item, stay in zip(before, stays, strict=True) if stay),
        view.input[cutoff.index :],
    )


def _steps(config: CompactionConfig, view: View) -> list[Cutoff]:
    """The cuts for ever shorter ends: as it is set, a half, a quarter, ..., down to the last round."""
    keep_tokens = in_tokens(config.keep_tokens, view.model.window)
    size = keep_tokens or min(config.keep_messages, len(view.input))
    found = []
    while size > 1:
        found.append(_cutoff(view, size if not keep_tokens else 0, size if keep_tokens else 0))
        size //= 2
    found.append(_cutoff(view, 1, 0))
    return found


def _cutoff(view: View, keep_messages: int, keep_tokens: int) -> Cutoff:
    cutoff = view.cutoff(keep_messages=keep_messages, keep_tokens=in_estimate(keep_tokens, view))
    return _before_last_round(view, cutoff)


def _regular(config: CompactionConfig, view: View, done: int) -> Cutoff:
    """The configured cut, later when the tail alone would be too long, and never behind the last round."""
    keep_messages = config.keep_messages >> done
    wanted = _cutoff(view, keep_messages, in_tokens(config.keep_tokens, view.model.window))
    threshold = trigger_tokens(config, view)
    beside = round(view.fixed_tokens * view.scale)
    room = max(1, int((threshold - beside) * TAIL_SHARE)) >> done
    shorter = view.cutoff(keep_tokens=in_estimate(max(1, room), view))
    if shorter.index > wanted.index and view.tokens >= threshold:
        reason = f"keeps about {room:,} tokens, since the last {keep_messages} messages alone are more"
        wanted = Cutoff(shorter.index, wanted.wanted, reason)
    return _before_last_round(view, wanted)


def _before_last_round(view: View, cutoff: Cutoff) -> Cutoff:
    last_unit = view.input.messages.boundaries()[-2] if view.input else 0
    if cutoff.index > last_unit:
        return Cutoff(last_unit, cutoff.wanted, "keeps the last round, which is not answered yet")
    return cutoff
