"""The loop around both managers: a check before a call, help after an overflow, and work after a turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import View
from harness_nb.policies.picoclaw.config import PicoClawConfig
from harness_nb.policies.picoclaw.sizes import items_tokens, message_tokens
from harness_nb.policies.picoclaw.turns import sanitised, without_first_turn

KEY = "picoclaw"
"""Name in the record of an item under which stands what PicoClaw made it as."""


class PicoClawPolicy(CompactionPolicy):
    """What the managers share.

    A manager says what happens after a turn, before a call that does not fit, and after an overflow; what does not fit
    then loses its oldest turns, for the request only.
    """

    name = "picoclaw"
    passes = 2
    hooks = frozenset({"request", "end", "overflow", "manual"})

    def __init__(self, config: PicoClawConfig, *, name: str = "picoclaw") -> None:
        self.limits = config
        self.name = name

    @abstractmethod
    def after_turn(self, view: View, *, forced: bool = False) -> Plan:
        """What happens after a turn; `forced` when somebody asks for it."""

    @abstractmethod
    def ahead(self, view: View) -> Plan:
        """What happens when a request would not fit."""

    @abstractmethod
    def recovered(self, view: View) -> Plan:
        """What happens after an overflow."""

    @abstractmethod
    def assembled(self, view: View) -> tuple[Item, ...]:
        """What of the list a request sends."""

    def plan(self, view: View) -> Plan:
        """Acts as the manager does at this point of the loop."""
        if view.hook in ("end", "manual"):
            return self.after_turn(view, forced=view.hook == "manual")
        if not view.done and view.hook == "overflow":
            return replace(self.recovered(view), again=True)
        if not view.done and self._begins_turn(view) and not self.fits(view, self.assembled(view)):
            return replace(self.ahead(view), again=True)
        return self.trim(view)

    def _begins_turn(self, view: View) -> bool:
        return bool(view.input) and view.input[-1].index == view.turn

    # The request

    def trim(self, view: View) -> Plan:
        """A request that fits: without its oldest turns where needed, the turn in progress whole."""
        items, fits = self._trimmed(view, self.assembled(view))
        pressure = self.pressure(view)
        if items == view.input[:]:
            return view.unchanged("the request fits", outcome="noop", pressure=pressure)
        reason = "left out old turns for this request" + ("" if fits else ", which does not fit all the same")
        return view.becomes(items, reason, outcome="dropped", lasts="request", pressure=pressure)

    def _trimmed(self, view: View, items: Sequence[Item]) -> tuple[tuple[Item, ...], bool]:
        made = [item for item in items if item.index is None]
        said = [item for item in items if item.index is not None]
        old = tuple(item for item in said if (item.index or 0) < view.turn)
        now = tuple(item for item in said if (item.index or 0) >= view.turn)
        while old and not self.fits(view, (*made, *old, *now)):
            old = without_first_turn(old)
        kept = {id(item) for item in (*made, *old, *now)}
        left = tuple(item for item in items if id(item) in kept)
        return left, self.fits(view, left)

    def clean(self, view: View) -> Plan:
        """The list without calls and results that don't match, as PicoClaw cleans it before each call.

        Live the loop makes rounds whole instead, so that none is lost for the sake of its neighbour.
        """
        items = sanitised(view.input)
        if len(items) == len(view.input):
            return view.unchanged("calls and results match", outcome="noop")
        return view.becomes(items, "dropped calls and results that do not match", outcome="repaired")

    # Sizes

    def size(self, message: Message) -> int:
        """Tokens of a message."""
        return message_tokens(message)

    def tokens(self, view: View, items: Sequence[Item]) -> int:
        """Tokens that a request takes, the reply included."""
        return view.fixed_tokens + items_tokens(items) + self.limits.reply_tokens(view.model)

    def fits(self, view: View, items: Sequence[Item]) -> bool:
        """Whether a request fits the window."""
        return self.tokens(view, items) <= view.model.window

    def pressure(self, view: View) -> Pressure:
        """How full the window is, by its own estimate."""
        tokens = self.tokens(view, view.input)
        trigger = Trigger(name="context_window", value=tokens, threshold=view.model.window + 1)
        source = "estimated by characters/2.5, the reply's reserve included"
        return Pressure(tokens=tokens, window=view.model.window, triggers=(trigger,), source=source)
