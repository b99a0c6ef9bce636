"""OpenClaw's compaction as a policy: where in a turn it looks, and what comes of it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness_nb.core.item import Item
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import View
from harness_nb.policies.openclaw.compaction import Draft, Made, drafted, plainly, safeguarded, summary_item
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.conversation import has_conversation, repaired
from harness_nb.policies.openclaw.figures import OpenClawFigures
from harness_nb.policies.openclaw.gates import Precheck, Preflight, precheck, preflight
from harness_nb.policies.openclaw.record import OpenClawRecord
from harness_nb.policies.openclaw.results import (
    LEAST_STORED_CHARS,
    Caps,
    aggregate_cap,
    capped_results,
    cut_result,
    result_cap,
)
from harness_nb.policies.openclaw.sending import Guarded, guarded, pruned, without_old_pictures
from harness_nb.policies.openclaw.sizes import context_tokens
from harness_nb.policies.openclaw.summarising import Writer

ATTEMPTS = 3
"""Compactions after which an overflow is answered by shortening results instead."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A list in two.

    Attributes:
        past: What is compacted.
        running: The new message of the user, which is not stored yet where OpenClaw looks before a turn.
    """

    past: tuple[Item, ...]
    running: tuple[Item, ...]

    @property
    def prompt(self) -> str:
        """Text of the new message."""
        return "\n".join(item.message.text for item in self.running)


class OpenClawPolicy(OpenClawFigures, CompactionPolicy):
    """Puts an audited summary with excerpts in the place of all but the last 20,000 tokens, and caps tool results.

    Args:
        config: Settings.
        name: Shown in events.
    """

    name = "openclaw"
    passes = ATTEMPTS + 2
    hooks = frozenset({"turn", "request", "result", "end", "overflow", "manual"})
    record = OpenClawRecord

    def __init__(self, config: OpenClawConfig | None = None, *, name: str = "openclaw") -> None:
        self.config = config or OpenClawConfig()
        self.name = name

    def plan(self, view: View) -> Plan:
        """What is due at this point of the loop."""
        match view.hook:
            case "turn":
                return self._turn(view)
            case "request":
                return self._request(view)
            case "result":
                return self._result(view)
            case "end":
                return self._end(view)
            case "overflow":
                return self._overflow(view)
            case _:
                return self._compacted(view, _all(view), "asked for by the user")

    # What is known

    def parted(self, view: View) -> Parted:
        """The list in two, as far as the turn has only just begun."""
        start = len(view.input)
        while start and _is_said_since(view.input[start - 1], view.turn):
            start -= 1
        if start == len(view.input) or view.log[-1].role != "user":
            return _all(view)
        return Parted(view.input[:start], view.input[start:])

    def preflight(self, view: View) -> Preflight:
        """Tokens at the start of a turn, and the threshold."""
        parts = self.parted(view)
        past = view.log[: view.turn] if parts.running else view.log[:]
        known = None
        if view.usage is not None and view.billed:
            known = max(0, view.usage.input_tokens + view.carried)
        return preflight(past, parts.prompt, known, self.config.threshold(view.model.window))

    def precheck(self, view: View) -> Precheck:
        """The estimate of the first request of a turn."""
        parts, config = self.parted(view), self.config
        return precheck(parts.past, view.system, parts.prompt, view.model.window, config, caps=config.cap_requests)

    def mid_turn(self, view: View) -> Precheck | None:
        """The estimate of a request in a tool loop; None unless there is a new result in this turn."""
        items = self.guarded(view).items
        new = [item for item in items if item.index is not None and item.index >= view.turn]
        if not any(item.message.role == "tool" for item in new):
            return None
        return precheck(items, view.system, "", view.model.window, self.config, caps=False)

    def guarded(self, view: View) -> Guarded:
        """The list as the guard of the tool loop lets it through."""
        return guarded(view.input[:], view.model.window)

    def draft(self, view: View, parts: Parted | None = None) -> Draft:
        """What a compaction would work on, before a model is asked."""
        items = repaired((parts or _all(view)).past)
        return drafted(items, _branch(view, items), self.config)

    # The points of the loop

    def _turn(self, view: View) -> Plan:
        found = self.preflight(view)
        pressure = self._pressure(view, found.tokens, found.threshold)
        if not self.config.preflight or not found.fires or view.done:
            return view.unchanged("below the threshold of a turn", pressure=pressure)
        plan = self._compacted(view, self.parted(view), f"a turn would begin with {found.tokens:,} tokens")
        return replace(plan, pressure=pressure)

    def _request(self, view: View) -> Plan:
        """Compacts where the request would be too long, and then leaves out of it what only this request can do without."""
        if not any(plan.outcome == "compressed" for plan in view.done):
            plan = self._checked(view)
            if plan is not None and plan.changes:
                return replace(plan, again=True)
        return self._sent(view)

    def _checked(self, view: View) -> Plan | None:
        """A compaction because of an estimate; None where none is due."""
        parts, config = self.parted(view), self.config
        found: Precheck | None = None
        if parts.running and config.precheck:
            found = self.precheck(view)
        elif not parts.running and config.mid_turn_precheck:
            found = self.mid_turn(view)
        if found is not None and found.route != "fits":
            return self._routed(view, parts, found)
        if config.loop_guard and self.guarded(view).overflows:
            return self._compacted(view, parts, "the request has more characters than nine tenths of the window")
        return None

    def _routed(self, view: View, parts: Parted, found: Precheck) -> Plan:
        if found.aggregate_pressure:
            why = f"the tool results have more than {found.aggregate_chars:,} characters together"
        else:
            why = f"the request is about {found.tokens:,} tokens and may have {found.budget:,}"
        pressure = self._pressure(view, found.tokens, found.budget)
        if not found.compacts:
            return replace(self._shortened(view, why), pressure=pressure)
        plan = self._compacted(view, parts, why)
        if found.route == "compact_then_truncate" and plan.input is not None:
            plan = self._truncated(view, plan)
        return replace(plan, pressure=pressure)

    def _sent(self, view: View) -> Plan:
        """The list of the next request only."""
        config, window = self.config, view.model.window
        parts = self.parted(view)
        items = self._caps(parts.past, window).items if config.cap_requests else parts.past
        items = (*items, *parts.running)
        items = without_old_pictures(items) if config.prune_images else items
        state = self._state(view)
        if config.pruning:
            now = view.now.timestamp()
            if state.pruned_at and now - state.pruned_at >= config.pruning_ttl_seconds:
                items = pruned(items, window, config)
            state = replace(state, pruned_at=now)
        items = guarded(items, window).items if config.loop_guard else items
        if _same(items, view.input):
            return view.unchanged("the request is sent as it is", state=state)
        return view.becomes(
            items, "old or long parts are left out of this request", outcome="masked", lasts="request", state=state
        )

    def _result(self, view: View) -> Plan:
        """Caps what a tool has just given."""
        cap = result_cap(view.model.window, self.config.result_max_chars)
        items = tuple(cut_result(item, cap, LEAST_STORED_CHARS) if item.how == "kept" else item for item in view.input)
        if _same(items, view.input):
            return view.unchanged("no result is above its cap")
        return view.becomes(items, f"results keep to {cap:,} characters", outcome="truncated")

    def _end(self, view: View) -> Plan:
        """The check of `default` mode after an answer, by its bill."""
        window = view.model.window
        threshold = window - self.config.reserve(window)
        last = view.input[-1].message if view.input else None
        bill = last.usage if last is not None and last.role == "assistant" else None
        tokens = bill.input_tokens + bill.output_tokens if bill is not None else context_tokens(view.input[:])
        pressure = self._pressure(view, tokens, threshold + 1)
        if self.config.mode != "default" or not self.config.inner or tokens <= threshold or view.done:
            return view.unchanged("not above window less reserve", pressure=pressure)
        plan = self._compacted(view, _all(view), f"the last request had {tokens:,} tokens")
        return replace(plan, pressure=pressure)

    def _overflow(self, view: View) -> Plan:
        """Compacts, and shortens results where that was not enough."""
        compacted = [plan for plan in view.done if plan.outcome == "compressed"]
        if len(compacted) < ATTEMPTS and (not view.done or compacted):
            plan = self._compacted(view, _all(view), "the provider refused the request as too long")
            if plan.input is not None:
                return replace(plan, again=view.tokens_of(plan.input) >= view.model.window)
            if not self._caps(view.input[:], view.model.window).changed:
                return plan
        return self._shortened(view, "compacting was not enough")

    # A compaction

    def _compacted(self, view: View, parts: Parted, why: str) -> Plan:
        draft = self.draft(view, parts)
        refused = self._refused(view, parts, draft)
        if refused:
            return self._unchanged(view, parts, refused)
        made = self._made(view, draft)
        if not made.text.strip() and made.failed:
            return self._unchanged(view, parts, "summariser_failed")
        if made.faults and not self.config.accept_failed_audit:
            return self._unchanged(view, parts, "audit_failed")
        return self._replaced(view, parts, draft, made, why)

    def _refused(self, view: View, parts: Parted, draft: Draft) -> str:
        """Why there is nothing to compact, in one word; empty where there is."""
        state = self._state(view)
        stop = parts.running[0].index if parts.running else len(view.log)
        if draft.earlier is not None and stop is not None and stop <= state.compacted_at:
            return "already_compacted"
        if not has_conversation(repaired(parts.past)):
            return "no_real_conversation"
        before = draft.cut.history or draft.cut.turn_prefix
        return "nothing_before_the_cut" if not before and not self.config.whole_branch else ""

    def _made(self, view: View, draft: Draft) -> Made:
        window = view.model.window
        writer = Writer(view, self.config, window, self.config.reserve(window))
        write = safeguarded if self.config.mode == "safeguard" else plainly
        return write(draft, view, self.config, writer, view.words)

    def _unchanged(self, view: View, parts: Parted, why: str) -> Plan:
        """The list as it is, but for blank requests."""
        items = (*repaired(parts.past), *parts.running)
        if _same(items, view.input):
            return view.unchanged(_REASONS[why], outcome=why)
        return view.becomes(items, _REASONS[why], outcome=why)

    def _replaced(self, view: View, parts: Parted, draft: Draft, made: Made, why: str) -> Plan:
        kept, gone = draft.cut.kept, tuple[Item, ...]()
        if self.hardens(view, draft):
            kept, gone = (), kept
        summary = summary_item(made, draft, self.config, (*kept, *parts.running), gone)
        state = self._state(view)
        stop = parts.running[0].index if parts.running else None
        state = replace(state, compactions=state.compactions + 1, compacted_at=len(view.log) if stop is None else stop)
        failed = f"; a call brought nothing: {made.failed}" if made.failed else ""
        return view.becomes((summary, *kept, *parts.running), f"{why}{failed}", outcome="compressed", state=state)

    def hardens(self, view: View, draft: Draft) -> bool:
        """Whether a compaction by hand drops what it would have kept."""
        config = self.config
        wanted = view.hook == "manual" and config.keep_recent_tokens is None and not config.manual_keeps_tail
        return wanted and bool(draft.cut.history or draft.cut.turn_prefix)

    def _truncated(self, view: View, plan: Plan) -> Plan:
        """A compaction whose results are shortened, too: oldest first, also those that are no longer in the list."""
        before = {item.index: item for item in view.input if item.index is not None}
        after = {item.index: item for item in plan.input or () if item.index is not None}
        caps = self._caps(self._stored(view, {**before, **after}), view.model.window)
        shorter = {item.index: item for item in caps.items}
        items = tuple(shorter.get(item.index, item) if item.index is not None else item for item in plan.input or ())
        return replace(plan, input=items)

    def truncated(self, view: View) -> int:
        """How many stored results a shortening of the session changes."""
        shown = {item.index: item for item in view.input if item.index is not None}
        return self._caps(self._stored(view, shown), view.model.window).changed

    def _stored(self, view: View, shown: Mapping[int, Item]) -> list[Item]:
        """The whole session as it is stored, without the new message of the user."""
        running = {item.index for item in self.parted(view).running}
        indices = (at for at, one in enumerate(view.log) if one.role != "system" and at not in running)
        return [shown.get(at) or Item(at, view.log[at]) for at in indices]

    def _shortened(self, view: View, why: str) -> Plan:
        caps = self._caps(view.input[:], view.model.window)
        if not caps.changed:
            return view.unchanged(f"{why}, and no result can be shortened", outcome="noop")
        return view.becomes(caps.items, f"{why}: {caps.changed} results are shortened", outcome="truncated")

    def _caps(self, items: Sequence[Item], window: int) -> Caps:
        per_result = result_cap(window, self.config.result_max_chars)
        return capped_results(items, per_result, aggregate_cap(window, per_result), spare_last=True)

    def _state(self, view: View) -> OpenClawRecord:
        return view.state if isinstance(view.state, OpenClawRecord) else OpenClawRecord()

    def _pressure(self, view: View, tokens: int, threshold: int) -> Pressure:
        triggers = (Trigger(name="threshold", value=tokens, threshold=threshold),) if threshold > 0 else ()
        source = "estimated from four characters a token, or the last bill"
        return Pressure(tokens=tokens, window=view.model.window, triggers=triggers, source=source)


_REASONS = {
    "already_compacted": "nothing was said since the last compaction",
    "no_real_conversation": "nobody said anything yet",
    "nothing_before_the_cut": "all of it is within the budget that stays",
    "summariser_failed": "the summary failed, so nothing was replaced",
    "audit_failed": "no summary passed the audit, so nothing was replaced",
}


def _all(view: View) -> Parted:
    return Parted(view.input[:], ())


def _is_said_since(item: Item, turn: int) -> bool:
    """Whether an item is a message of the user in the turn in progress."""
    return item.index is not None and item.index >= turn and item.message.role == "user"


def _branch(view: View, items: Sequence[Item]) -> tuple[Item, ...]:
    """The session from its beginning on, as its file has it, up to the last of some items."""
    shown = {item.index: item for item in items if item.index is not None}
    stop = max(shown, default=-1) + 1
    branch = (shown.get(at) or Item(at, view.log[at]) for at in range(stop))
    return repaired(item for item in branch if item.message.role != "system")


def _same(items: Sequence[Item], before: Sequence[Item]) -> bool:
    return len(items) == len(before) and all(new is old or new == old for new, old in zip(items, before, strict=True))
