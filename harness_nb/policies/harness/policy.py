"""The harness's own compaction: triggers by messages or tokens, keeps the end, puts a four-section summary before it.

After AgentScope's documentation, with these differences: what the pre-passes shorten stays short even when no compaction
follows; a tail that alone would fill half the trigger is kept shorter; a trigger above what the window leaves for input is
lowered; the latest request of the user stays word for word wherever it stands; a summary that failed or is no use changes
nothing; where a request can't be sent otherwise, ever shorter ends are kept, and then the largest results go to files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from harness_nb.core import edits, pins
from harness_nb.core.config import CompactionConfig
from harness_nb.core.item import Item
from harness_nb.core.plan import Plan, Trigger
from harness_nb.core.policy import CompactionPolicy, Rest
from harness_nb.core.view import View
from harness_nb.policies.harness import rooms
from harness_nb.policies.harness.cutting import Wish, recent_start, wish
from harness_nb.policies.harness.evicting import largest_evicted
from harness_nb.policies.harness.prepasses import cleared, shortened
from harness_nb.policies.harness.restoring import is_plan_note, plan_note, read_again
from harness_nb.policies.harness.summarising import Written, written

NEAR = (
    "[A note of the harness, not of the user. {share} of the room for this conversation is used; soon its older part will be "
    "replaced by a summary. Now is the time to write down what must not be lost{how}. Then go on with the task.]"
)
"""What the model is told before a compaction."""

LEFT_OUT = (
    "[{count} earlier message(s) are not shown here and no summary stands for them, as none could be written ({why}). They "
    "are kept in the session's log.]"
)
"""What takes the place of messages of which no summary could be written."""


@dataclass(frozen=True, slots=True)
class HarnessRecord:
    """What the policy remembers.

    Attributes:
        warned: Whether the model was told that a compaction is near.
    """

    warned: bool = False


class HarnessPolicy(CompactionPolicy):
    """Summarises what is old once the conversation is long.

    Args:
        config: Triggers, what stays, and the pre-passes.
        name: Shown in events.
    """

    name = "harness"
    record: ClassVar[type | None] = HarnessRecord

    def __init__(self, config: CompactionConfig | None = None, *, name: str = "harness") -> None:
        self.config = config or CompactionConfig()
        self.name = name
        if not (self.config.trigger_messages or self.config.trigger_tokens):  # automatic compaction is off
            self.hooks = frozenset({"manual"} if self.config.truncate_args is None else {"manual", "request"})

    def plan(self, view: View) -> Plan:
        """Shortens what is old, and compacts when a trigger fires or somebody asks for it."""
        passed = shortened(view, self.config.truncate_args)
        now = view if passed is None else view.after(passed)
        found = rooms.triggers(self.config, now)
        if self._is_pressed(now, found):
            lighter = cleared(now, self.config.clear_results, recent_start(self.config, now))
            if lighter is not None:
                passed = lighter if passed is None else replace(lighter, reason=f"{passed.reason}; {lighter.reason}")
                now = now.after(lighter)
                found = rooms.triggers(self.config, now)
        if self._is_enough(view, now, found, passed):
            return passed or self._quiet(now, found)
        return _together(passed, self._compacted(now, found))

    def rests(self, view: View) -> Rest | None:
        """Below every trigger and pre-pass, and outside of where a warning is given or forgotten."""
        warned = view.state == HarnessRecord(warned=True)
        is_known = view.state is None or (warned and self.config.trigger_tokens)
        return rooms.rest(self.config, view, warned=warned) if is_known else None

    def triggers(self, view: View) -> tuple[Trigger, ...]:
        """The thresholds in force; the one for tokens is lowered to what the window leaves for input."""
        return rooms.triggers(self.config, view)

    def _is_pressed(self, view: View, found: Sequence[Trigger]) -> bool:
        """Whether tokens are the reason to act."""
        by_tokens = any(trigger.fired for trigger in found if trigger.unit == "tokens")
        return rooms.is_forced(view) or (view.hook == "request" and by_tokens)

    def _is_enough(self, view: View, now: View, found: Sequence[Trigger], passed: Plan | None) -> bool:
        """Whether nothing more is to be done than what the pre-passes did."""
        if view.hook == "overflow":
            return passed is not None and now.tokens <= rooms.room_for_input(now, self.config.reserved)
        return view.hook == "request" and not any(trigger.fired for trigger in found)

    def _quiet(self, view: View, found: Sequence[Trigger]) -> Plan:
        """Nothing is to be done, but that the model may have to be told, once for each approach to the trigger."""
        pressure = view.pressure(triggers=found)
        tokens = next((one for one in found if one.unit == "tokens"), None)
        if tokens is None or not self.config.warn_at or tokens.value < self.config.warn_at * tokens.threshold:
            return view.unchanged(rooms.quiet(found), pressure=pressure, state=None)
        if isinstance(view.state, HarnessRecord) and view.state.warned:
            return view.unchanged(rooms.quiet(found), pressure=pressure)
        return view.becomes(
            (*view.input, edits.note(_near(view, tokens))),
            f"the model is told that a compaction is near: {tokens.value:,} of {tokens.threshold:,} tokens",
            outcome="warned",
            lasts="request",
            pressure=pressure,
            state=HarnessRecord(warned=True),
        )

    def _compacted(self, view: View, found: Sequence[Trigger]) -> Plan:
        pressure = view.pressure(triggers=found)
        wanted = wish(self.config, view)
        if wanted.is_empty:
            return self._evicted(view, found)
        summary = written(view, wanted.old, self.config)
        if summary.problem and not self._falls_back(view):
            return view.unchanged(f"the summary failed: {summary.problem}", outcome="failed", pressure=pressure)
        items = self._items(view, wanted, summary)
        again = False
        if rooms.is_forced(view):
            room = rooms.room_for_input(view, self.config.reserved)
            items = largest_evicted(view, items, room)
            again = not wanted.is_last and view.tokens_of(items) > room
        return view.becomes(
            items,
            self._reason(view, found, wanted, summary),
            outcome="elided" if summary.problem else "compacted",
            again=again,
            pressure=pressure,
            cutoff=wanted.cutoff,
            state=None,
        )

    def _falls_back(self, view: View) -> bool:
        return self.config.fallback == "always" or (self.config.fallback == "overflow" and rooms.is_forced(view))

    def _evicted(self, view: View, found: Sequence[Trigger]) -> Plan:
        """Moves the largest results to files, where nothing can be summarised and the request can't be sent."""
        pressure = view.pressure(triggers=found)
        if rooms.is_forced(view):
            items = largest_evicted(view, view.input[:], rooms.room_for_input(view, self.config.reserved))
            if items != view.input[:]:
                reason = (
                    f"{rooms.why(view, found)}; nothing is old enough to be summarised, so large results were moved"
                )
                return view.becomes(items, reason, outcome="evicted", pressure=pressure)
        return view.unchanged("nothing is old enough to be summarised", outcome="skipped", pressure=pressure)

    def _items(self, view: View, wanted: Wish, summary: Written) -> tuple[Item, ...]:
        """The new list: what stands for the old part, the open plan, what comes back, and the end."""
        again = () if rooms.is_forced(view) else read_again(view, wanted.old, self.config)
        comes_back = {item.index for item in again}
        gone = tuple(item for item in wanted.old if item.index is None or item.index not in comes_back)
        recent = (item for item in wanted.recent if not is_plan_note(item))
        back = sorted((*wanted.back, *again), key=lambda item: item.index if item.index is not None else -1)
        items = (*_stand_in(gone, summary), *plan_note(view, self.config), *back, *recent)
        return pins.restored(view.pins, items)

    def _reason(self, view: View, found: Sequence[Trigger], wanted: Wish, summary: Written) -> str:
        told = [rooms.why(view, found), rooms.lowered(self.config, view), wanted.cutoff.reason]
        told += [f"summarised in {summary.parts} parts"] if summary.parts > 1 else []
        told += [f"no summary: {summary.problem}, so messages were left out with a note"] if summary.problem else []
        return "; ".join(filter(None, told))


def _near(view: View, tokens: Trigger) -> str:
    share = f"{tokens.value / tokens.threshold:.0%}"
    names = {tool.name for tool in view.tools}
    ways = [f"with {name}" for name in ("memory_save", "pin_instruction") if name in names]
    how = f" ({' or '.join(ways)})" if ways else ""
    how += "; compact_context lets the summary come now" if "compact_context" in names else ""
    return NEAR.replace("{share}", share).replace("{how}", how)


def _stand_in(old: Sequence[Item], summary: Written) -> tuple[Item, ...]:
    """What takes the place of some items: their summary, or earlier summaries as they are and a note that says why."""
    if not summary.problem:
        return (edits.summary(summary.reply, of=old),)
    earlier = tuple(item for item in old if item.how == "summary")
    rest = [item for item in old if item.how != "summary"]
    note = LEFT_OUT.replace("{count}", str(len(rest))).replace("{why}", summary.problem)
    return (*earlier, edits.note(note, of=rest))


def _together(passed: Plan | None, plan: Plan) -> Plan:
    """A compaction behind a pre-pass: what the pre-pass shortened stays short, also when the compaction failed."""
    if passed is None or plan.changes:
        return plan
    if plan.outcome == "failed":
        return replace(passed, outcome="failed", reason=f"{passed.reason}; {plan.reason}")
    return passed
