"""Gemini CLI's compaction, as a policy: a verified snapshot at half of the window, and masks on old tool outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from harness_nb.core.item import Item
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Failure
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import View
from harness_nb.errors import BudgetError, ModelError
from harness_nb.policies.gemini_cli.budget import filed, within_budget
from harness_nb.policies.gemini_cli.config import GeminiCliConfig, compressor, nests_media
from harness_nb.policies.gemini_cli.history import History, estimated, history
from harness_nb.policies.gemini_cli.masking import masks
from harness_nb.policies.gemini_cli.record import GeminiCliRecord
from harness_nb.policies.gemini_cli.sizes import Sizes
from harness_nb.policies.gemini_cli.snapshot import Draft, Made, drafted, made

_UNITS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Look:
    """What is known before anything is done.

    Attributes:
        past: The history.
        count: Tokens of the last prompt as the provider reported it, or an estimate where it reported none since the list
            was changed.
        display: UTF-16 units that stay of an output over the budget; below 0 in an overfull window.
        is_forced: Whether threshold and latch do not count.
        record: What is remembered.
    """

    past: History
    count: int
    display: int
    is_forced: bool
    record: GeminiCliRecord


class GeminiCliPolicy(CompactionPolicy):
    """Turns what is old into a snapshot, masks old tool outputs, and shortens those of the shell when they arrive.

    Args:
        config: Thresholds and budgets.
        name: Shown in events.
    """

    name = "gemini-cli"
    passes = 2
    hooks = frozenset({"request", "result", "overflow", "manual"})
    record = GeminiCliRecord

    def __init__(self, config: GeminiCliConfig | None = None, *, name: str = "gemini-cli") -> None:
        self.config = config or GeminiCliConfig()
        self.name = name
        if not self.config.recovers_overflow:
            self.hooks = self.hooks - {"overflow"}
        self._sizes = {nested: Sizes(nested) for nested in (False, True)}

    def plan(self, view: View) -> Plan:
        """At a request, compression and then masks; on results, what arrives too long; else compression alone."""
        if view.hook == "result":
            return self._arrived(view)
        if self._is_over(view):
            return self._ended(view)
        plan = self._first(view)
        if view.hook != "request" or plan.error is not None or not self.config.masking:
            return plan
        return replace(plan, again=True) if plan.changes else self._masked(view, plan)

    def _first(self, view: View) -> Plan:
        if view.done or not self.config.compression:
            return view.unchanged("nothing is due", pressure=self._pressure(view, self.look(view)))
        return self._compressed(view)

    # What is known

    def look(self, view: View) -> Look:
        """What is known before anything is done."""
        past = history(view, self.config, self._sizes[nests_media(view.model.name)])
        count = self._count(view, past)
        room = _UNITS_PER_TOKEN * (view.model.window - count)
        return Look(
            past=past,
            count=count,
            display=min(self.config.truncate_tool_output_threshold, room),
            is_forced=view.hook in ("manual", "overflow"),
            record=view.state if isinstance(view.state, GeminiCliRecord) else GeminiCliRecord(),
        )

    @staticmethod
    def _count(view: View, past: History) -> int:
        """The last prompt's tokens as reported; after a change of the list, and without a report, an estimate."""
        is_reported = view.usage is not None and view.billed and not view.carried
        return view.usage.input_tokens if is_reported and view.usage is not None else estimated(view, past)

    def is_due(self, view: View, look: Look) -> bool:
        """Whether the compression acts."""
        return look.is_forced or look.count >= self.config.threshold * view.model.window

    def _pressure(self, view: View, look: Look) -> Pressure:
        threshold = math.ceil(self.config.threshold * view.model.window)
        trigger = Trigger(name="compression_threshold", value=look.count, threshold=threshold)
        source = "the last prompt as reported, or characters/4 of the history"
        return Pressure(tokens=look.count, window=view.model.window, triggers=(trigger,), source=source)

    def short(self, view: View, look: Look) -> History:
        """The history with outputs over the budget shortened."""
        items = within_budget(view, look.past.items, self.config.tool_response_budget, look.display)
        return look.past.becomes(items)

    def draft(self, view: View, look: Look, short: History) -> Draft | None:
        """The snapshot that would be asked for; None where there is nothing before the split."""
        return drafted(view, look.past, short, self.config)

    def made(self, view: View, draft: Draft) -> Made:
        """What comes of asking for a snapshot."""
        return made(view, draft, self.config)

    @staticmethod
    def compressor(model: str) -> str:
        """The model that Gemini CLI asks for the snapshots of a conversation with a model."""
        return compressor(model)

    # Compression

    def _compressed(self, view: View) -> Plan:
        look = self.look(view)
        pressure = self._pressure(view, look)
        if not self.is_due(view, look) or not look.past.turns:
            share = f"{look.count:,} tokens of the {pressure.triggers[0].threshold:,} at which it acts"
            return view.unchanged(f"below the threshold: {share}", outcome="noop", pressure=pressure)
        short = self.short(view, look)
        if look.record.latched and not look.is_forced:
            return self._only_shortened(view, look, short, pressure)
        draft = self.draft(view, look, short)
        if draft is None:
            return view.unchanged("no prompt to cut at", outcome="noop", pressure=pressure)
        return self._replaced(view, look, draft, pressure)

    def _only_shortened(self, view: View, look: Look, short: History, pressure: Pressure) -> Plan:
        """After a snapshot that came out too long: no model is asked, and the shortened list is taken if it is shorter."""
        if short.tokens >= look.count:
            return view.unchanged("latched, and shortening gains nothing", outcome="noop", pressure=pressure)
        items = (*short.curated, *short.pending)
        return view.becomes(items, "latched: long outputs shortened", outcome="truncated", pressure=pressure)

    def _replaced(self, view: View, look: Look, draft: Draft, pressure: Pressure) -> Plan:
        found = self.made(view, draft)
        if found.reply.failure is not None:
            return self._failed(view, found.reply.failure, pressure)
        if not found.items:
            return view.unchanged("the snapshot was blank", outcome="empty", pressure=pressure)
        if found.tokens > look.count and not found.reply.assumed:
            state = look.record if look.is_forced else GeminiCliRecord(latched=True)
            reason = f"inflated: {found.tokens:,} tokens instead of {look.count:,}"
            return view.unchanged(reason, outcome="inflated", state=state, pressure=pressure)
        return view.becomes(
            (*found.items, *look.past.pending),
            f"{look.count:,} tokens: {len(draft.older.items)} messages became a snapshot",
            outcome="compressed",
            state=GeminiCliRecord(),
            pressure=pressure,
            cutoff=draft.cutoff,
        )

    @staticmethod
    def _failed(view: View, failure: Failure, pressure: Pressure) -> Plan:
        """A request that failed costs the turn."""
        said = failure.detail or failure.kind
        error = ModelError(f"The snapshot failed: {said}.", "Try again, use another model, or start a new session.")
        return view.unchanged(error.problem, outcome="failed", error=error, pressure=pressure)

    # Tool outputs

    def _masked(self, view: View, before: Plan) -> Plan:
        past = self.look(view).past
        made = masks(view, past, self.config)
        if not made:
            return before
        items = [made.get(at, item) for at, item in enumerate(past.items)]
        reason = f"{before.reason}; masked {len(made)} old tool output(s)"
        return view.becomes(
            (*items, *past.pending), reason, outcome="masked", state=before.state, pressure=before.pressure
        )

    def _arrived(self, view: View) -> Plan:
        """Shortens what the shell, or a tool of an MCP server, has just returned."""
        display = self.look(view).display
        items = list(view.input)
        at = len(items)
        while at > 0 and items[at - 1].message.role == "tool":
            at -= 1
            if self._is_too_long(items[at], display):
                items[at] = filed(view, items[at], display)
        if all(new is old for new, old in zip(items, view.input, strict=True)):
            return view.unchanged("no result is too long", outcome="noop")
        return view.becomes(items, f"a result above {display:,} characters", outcome="truncated")

    def _is_too_long(self, item: Item, display: int) -> bool:
        message = item.message
        is_single = message.content is None or isinstance(message.content, str) or len(message.content) == 1
        counts = self.config.is_shell(message.name) or (is_single and self.config.is_mcp(message.name))
        return counts and item.how == "kept" and 0 < display < utf16_len(message.text)

    # The session's limit

    def _is_over(self, view: View) -> bool:
        most = self.config.max_session_turns
        answers = sum(message.role == "assistant" for message in view.log) if most > 0 else 0
        return view.hook == "request" and 0 < most <= answers

    def _ended(self, view: View) -> Plan:
        most = self.config.max_session_turns
        error = BudgetError(
            f"The session has made max_session_turns={most} model requests.", "Raise it, or start a new session."
        )
        return view.unchanged(error.problem, error=error)
