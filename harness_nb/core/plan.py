"""A plan: the next model input itself, item by item, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item, covered
from harness_nb.errors import HarnessError

if TYPE_CHECKING:
    from harness_nb.core.view import View

Lasts = Literal["session", "request", "reply"]
Became = Literal["kept", "changed", "stood for", "gone", "back"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A threshold at which a policy acts.

    Attributes:
        name: The setting's name.
        value: Where the conversation stands.
        threshold: Where the policy acts, at or above.
        unit: `tokens` or `messages`.
    """

    name: str
    value: int
    threshold: int
    unit: Literal["tokens", "messages"] = "tokens"

    @property
    def fired(self) -> bool:
        """True when the policy acts."""
        return self.value >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A numbered band of pressure with one action.

    Attributes:
        number: 1 for the first band above the quiet one.
        threshold: Where it begins, in tokens.
        action: What the policy does there, in words.
    """

    number: int
    threshold: int
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """How full the context is, as the policy sees it.

    Attributes:
        tokens: Size of the model input under the policy's own measure.
        window: Context window in tokens.
        tier: Number of the tier in force, 0 for none.
        tiers: The policy's bands, in ascending order.
        triggers: The policy's thresholds.
        source: How `tokens` is known, in words.
        rest: Why compaction rests though it may be due, or empty.
    """

    tokens: int
    window: int
    tier: int = 0
    tiers: tuple[Tier, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    source: str = ""
    rest: str = ""

    @property
    def share(self) -> float:
        """Part of the window in use, 0 to 1 (above 1 when it does not fit)."""
        return self.tokens / self.window


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one message under a plan.

    Attributes:
        index: Its log index.
        fate: `kept`, `changed`, `stood for`, `gone` (in the list before, now neither kept nor stood for), or `back`.
        how: The edit that changed it or that stands for it, empty otherwise.
        position: Position in the new list of the item that shows it or stands for it, or None.
    """

    index: int
    fate: Became
    how: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a policy wants.

    Attributes:
        input: The next model input, whole and in order; None leaves it as it is.
        state: The policy's record from now on, also when the list stays.
        outcome: In one word: `unchanged`, `compacted`, `truncated`, `elided`, ...
        reason: In words.
        pressure: How full the context is, as the policy measured it.
        lasts: `session`; `request`: for the next request only; `reply`: undone if that request fails.
        again: Plan once more after this swap.
        remember: Texts for the durable memory.
        error: Why the turn must not go on, or None.
        cutoff: Where the list was cut and where that was wanted, as positions in the list before; None where the policy
            does not cut.
    """

    input: tuple[Item, ...] | None = None
    state: object = None
    outcome: str = "unchanged"
    reason: str = ""
    pressure: Pressure | None = None
    lasts: Lasts = "session"
    again: bool = False
    remember: tuple[str, ...] = ()
    error: HarnessError | None = None
    cutoff: Cutoff | None = None

    @property
    def changes(self) -> bool:
        """True when it replaces the list."""
        return self.input is not None

    def only_adds(self, view: View) -> bool:
        """True when it only puts something behind the list, for the next request alone: a word to the model, no more."""
        return self.input is not None and self.lasts == "request" and self.input[: len(view.input)] == view.input[:]

    def items(self, view: View) -> tuple[Item, ...]:
        """The list as it stands after this plan."""
        return view.input[:] if self.input is None else self.input

    def leaving(self, view: View) -> tuple[int, ...]:
        """Log indices that the list shows word for word and the plan no longer does, in ascending order."""
        if self.input is None:
            return ()
        return tuple(sorted(_verbatim(view.input) - _verbatim(self.input)))

    def fates(self, view: View) -> tuple[Fate, ...]:
        """What becomes of each message that the list or the plan knows, in order of the log."""
        new = self.items(view)
        shown = {item.index: (at, item) for at, item in enumerate(new) if item.index is not None}
        stood = {index: (at, item) for at, item in enumerate(new) for index in item.stands_for}
        before = set(covered(view.input))
        in_list = {item.index for item in view.input}
        found = []
        for index in sorted(before | shown.keys() | stood.keys()):
            if index in shown:
                at, item = shown[index]
                fate: Became = "back" if index not in in_list else "kept" if item.how == "kept" else "changed"
                found.append(Fate(index, fate, "" if item.how == "kept" else item.how, at))
            elif index in stood:
                at, item = stood[index]
                found.append(Fate(index, "stood for", item.how, at))
            else:
                found.append(Fate(index, "gone"))
        return tuple(found)


def _verbatim(items: Iterable[Item]) -> set[int]:
    return {item.index for item in items if item.index is not None and item.how == "kept"}
