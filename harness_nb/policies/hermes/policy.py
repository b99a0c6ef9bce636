"""Hermes' compaction, as a policy: at 75 % of the window the middle becomes a checkpoint that a model writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Usage
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, HarnessError
from harness_nb.policies.hermes.assembly import assembled, with_request
from harness_nb.policies.hermes.body import fallback_body, model_body
from harness_nb.policies.hermes.config import HermesConfig, Thresholds, thresholds
from harness_nb.policies.hermes.draft import Draft, drafted
from harness_nb.policies.hermes.failures import Setback, setback
from harness_nb.policies.hermes.gates import (
    ATTEMPTS,
    Gate,
    Sizes,
    exchanges_kept,
    gate,
    is_looked_at,
)
from harness_nb.policies.hermes.marks import MARK, TODO_OPENING, is_request, summary_text
from harness_nb.policies.hermes.record import UNKNOWN, HermesRecord
from harness_nb.policies.hermes.sizes import PrintedSize, text_tokens


@dataclass(frozen=True, slots=True)
class Look:
    """What is known before anything is done.

    Attributes:
        record: What is remembered, the provider's last count included.
        gate: Whether to compact.
    """

    record: HermesRecord
    gate: Gate


@dataclass(frozen=True, slots=True)
class _Made:
    """What came of asking for a summary: a text, what went wrong, or both."""

    body: str
    problem: Setback | None
    used_main_model: bool


class HermesPolicy(CompactionPolicy):
    """Keeps start and end, puts a model's checkpoint in the place of the middle, and updates it from then on.

    Args:
        config: Thresholds, what stays, and what happens when a summary fails.
        name: Shown in events.

    Attributes:
        size: The estimate that triggers.
        mark: Begins every summary.
    """

    name = "hermes"
    passes = ATTEMPTS
    hooks = frozenset({"turn", "request", "reply", "result", "idle", "overflow", "manual"})
    record = HermesRecord
    mark = MARK

    def __init__(self, config: HermesConfig | None = None, *, name: str = "hermes") -> None:
        self.config = config or HermesConfig()
        self.name = name
        self.size = PrintedSize()

    def plan(self, view: View) -> Plan:
        """Takes the provider's count in, and compacts where the point of the loop and the sizes say so."""
        if view.hook == "reply":
            return view.unchanged("took the provider's count in", state=self._heard(view))
        look = self.look(view)
        pressure = self._pressure(view, look.gate)
        if not look.gate.is_open:
            error = self._refusal(view) if look.gate.code == "window_below_minimum" else None
            return view.unchanged(look.gate.reason, state=look.record, pressure=pressure, error=error)
        return replace(self._compacted(view, look), pressure=pressure)

    def look(self, view: View) -> Look:
        """What is known and decided before anything is done."""
        record = self._estimated(view, self._heard(view))
        limits, sizes = self.limits(view, record), self.sizes(view)
        found = gate(view, self.config, limits, record, sizes)
        return Look(self._begun(view, record) if found.is_open else record, found)

    # What is known

    def _heard(self, view: View) -> HermesRecord:
        """The record with the last count that the provider reported since.

        Only a bill of the list as it is counts: a recorded one may be of another list.
        """
        record = view.state if isinstance(view.state, HermesRecord) else HermesRecord()
        new = range(record.heard, len(view.log))
        told_nothing = any(view.log[index].role == "assistant" for index in new)
        usage, record = _new_bill(view, record), replace(record, heard=len(view.log))
        if usage is not None:
            return record.reported(usage.input_tokens, self.limits(view, record).trigger)
        return record.unreported() if told_nothing and not self.config.waits_for_usage else record

    def limits(self, view: View, record: HermesRecord) -> Thresholds:
        """The figures in force."""
        found = thresholds(self.config, view.model)
        return found if record.trigger is None else replace(found, trigger=record.trigger)

    def sizes(self, view: View) -> Sizes:
        """The list by the estimate that triggers; in the tool loop the system prompt counts as a message."""
        stored = not view.done and self.config.level == "session"
        marks = self.config.stored_mark_chars * len(view.input) if stored else 0
        messages = self.size.of_input(view.input, marks)
        if self.config.level == "engine":
            return Sizes(request=messages, messages=messages)
        if view.hook == "request" and view.system:
            return Sizes(request=self.size.of_input(view.input, marks, system=view.system), messages=messages)
        return Sizes(request=messages + text_tokens(view.system), messages=messages)

    def draft(self, view: View, record: HermesRecord) -> Draft | None:
        """The compaction that a view asks for, before a model is asked; None when there is nothing to compress."""
        items, _ = self._parted(view)
        return drafted(
            items,
            config=self.config,
            limits=self.limits(view, record),
            record=record,
            size=self.size,
            topic="" if exchanges_kept(view.words) is not None else view.words.strip(),
        )

    def set_aside(self, view: View) -> tuple[Item, ...]:
        """The last exchanges, where the user wants them left out of a compaction."""
        return self._parted(view)[1]

    def _estimated(self, view: View, record: HermesRecord) -> HermesRecord:
        """The record with a new estimate of the request, where there is one."""
        if self.config.level == "engine" or view.done or record.awaiting_usage:
            return record
        sizes = self.sizes(view)
        if view.hook == "turn" and is_looked_at(view, self.config, self.limits(view, record), sizes):
            return record.estimated(sizes.request)
        return replace(record, rough_tokens=sizes.request) if view.hook == "request" else record

    def _parted(self, view: View) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """The list in two: what is compacted, and the last exchanges where the user wants them set aside."""
        items = view.input[:]
        keep = exchanges_kept(view.words) if view.hook == "manual" else None
        starts = [at for at, item in enumerate(items) if is_request(item)]
        if keep is None or len(starts) <= keep:
            return items, ()
        return items[: starts[-keep]], items[starts[-keep] :]

    def _begun(self, view: View, record: HermesRecord) -> HermesRecord:
        """The record at the start of a compaction: what it notes of the summary's own model, and of this turn."""
        if view.hook == "manual":
            record = replace(record, cooldown_until=0.0)
        window = self.config.summary_model_window
        if window is not None and window < self.limits(view, record).trigger:
            record = replace(record, trigger=window)
        if view.hook == "request":
            before = record.attempts if record.turn == view.turn else 0
            record = replace(record, turn=view.turn, attempts=before + 1)
        return record

    # A compaction

    def _compacted(self, view: View, look: Look) -> Plan:
        record = look.record
        window = self.config.summary_model_window
        if window is not None and window < self.config.minimum_window and self.config.level == "session":
            error = self._refusal(view, of_summary=True)
            return view.unchanged(error.problem, state=record, outcome="failed", error=error)
        draft = self.draft(view, record)
        if draft is None:
            state = replace(record, ineffective=record.ineffective + 1)
            return view.unchanged("nothing to compress", state=state, outcome="noop")
        made = self._summarised(view, draft, record)
        if made.problem is not None and made.problem.aborts:
            return self._aborted(view, draft, made, record)
        items = (*self._list(draft, made), *self.set_aside(view), *self._open_tasks(view))
        return self._replaced(view, items, made, look)

    def _summarised(self, view: View, draft: Draft, record: HermesRecord) -> _Made:
        """Asks for the summary: its own model first, where there is one, and the agent's after that."""
        own = None if record.main_model_only else self.config.summary_model
        reply = view.reply(self._ask(view, draft, own))
        problem = setback(reply, record.timeouts, self.config.abort_on_summary_failure)
        if problem is not None and own is not None:
            reply = view.reply(self._ask(view, draft, None))
            problem = setback(reply, record.timeouts, self.config.abort_on_summary_failure)
            return _Made(self._body(draft, reply, problem), problem, True)
        return _Made(self._body(draft, reply, problem), problem, record.main_model_only)

    def _ask(self, view: View, draft: Draft, model: str | None) -> Ask:
        return draft.ask(view, self.config, model)

    def _body(self, draft: Draft, reply: Reply, problem: Setback | None) -> str:
        if problem is not None:
            return fallback_body(draft.turns, draft.earlier, draft.request, problem.reason)
        return model_body(reply.text, draft.request if self.config.task_snapshot else None)

    def _list(self, draft: Draft, made: _Made) -> tuple[Item, ...]:
        request = draft.request
        meta: dict[str, object] = {
            "source": "model" if made.problem is None else "fallback",
            "body_chars": len(made.body),
            "task": request.index if request is not None else None,
        }
        if made.problem is not None:
            meta["failed"] = made.problem.reason
        items = assembled(
            draft.pruned.items[: draft.head],
            draft.pruned.items[draft.cut :],
            summary_text(made.body),
            of=draft.represented,
            meta=meta,
        )
        return with_request(items, draft.before) if self.config.level == "session" else items

    def _open_tasks(self, view: View) -> tuple[Item, ...]:
        """The to-do list that the loop keeps, once more at the end."""
        tasks = view.host.get("todo")
        if not isinstance(tasks, str) or not tasks.strip() or self.config.level == "engine":
            return ()
        return (edits.note(f"{TODO_OPENING}{tasks.strip()}", meta={"hermes": "todo"}),)

    def _aborted(self, view: View, draft: Draft, made: _Made, record: HermesRecord) -> Plan:
        """The list stays; the compressor by itself leaves old results shortened all the same."""
        state = self._set_back(view, record, made)
        reason = f"the summary failed: {made.problem.reason if made.problem else ''}"
        changed = draft.pruned.results or draft.pruned.arguments
        if self.config.level == "engine" and changed:
            return view.becomes(draft.pruned.items, reason, outcome="aborted", state=state)
        return view.unchanged(reason, state=state, outcome="failed")

    def _replaced(self, view: View, items: tuple[Item, ...], made: _Made, look: Look) -> Plan:
        state = self._done(view, items, made, look.record)
        failed = "" if made.problem is None else f"; the summary failed: {made.problem.reason}"
        return view.becomes(
            items,
            f"{look.gate.reason}{failed}",
            outcome="compressed" if made.problem is None else "fallback",
            state=state,
            again=len(items) < len(view.input) and self._repeats(view, items),
        )

    def _repeats(self, view: View, items: tuple[Item, ...]) -> bool:
        """Whether another pass may follow: at the start of a turn, and while a refused list is still too long."""
        if view.hook == "overflow":
            return view.tokens_of(items) >= view.model.window
        return view.hook == "turn" and self.config.level == "session"

    def _done(self, view: View, items: tuple[Item, ...], made: _Made, record: HermesRecord) -> HermesRecord:
        """The record after a compaction."""
        in_session = self.config.level == "session"
        state = record if made.problem is None else self._set_back(view, record, made)
        kept = not (in_session and self.config.session_store) and made.problem is None
        state = replace(
            state,
            compactions=record.compactions + 1,
            earlier=made.body if kept else "",
            main_model_only=made.used_main_model,
            ineffective=0 if in_session and self.config.session_store else record.ineffective,
        )
        if made.problem is None:
            state = replace(state, timeouts=0, fallbacks=0, cooldown_until=0.0)
        if not in_session:
            return state
        rough = self.size.of(item.message for item in items) + text_tokens(view.system)
        fallbacks = 0 if made.problem is None else record.fallbacks + 1
        return replace(
            state,
            fallbacks=fallbacks,
            awaiting_usage=True,
            last_prompt_tokens=UNKNOWN,
            real_tokens=0,
            rough_tokens=rough,
            heard=len(view.log),
        )

    @staticmethod
    def _set_back(view: View, record: HermesRecord, made: _Made) -> HermesRecord:
        if made.problem is None:
            return record
        until = view.now.timestamp() + made.problem.seconds
        return replace(record, cooldown_until=until, timeouts=made.problem.timeouts)

    def _pressure(self, view: View, found: Gate) -> Pressure:
        trigger = Trigger(name="threshold", value=found.tokens, threshold=found.threshold)
        return Pressure(
            tokens=found.tokens,
            window=view.model.window,
            triggers=(trigger,),
            source="estimated from the printed messages, four characters a token",
        )

    def _refusal(self, view: View, *, of_summary: bool = False) -> HarnessError:
        window = self.config.summary_model_window if of_summary else view.model.window
        whose = "summary model's window" if of_summary else "window"
        return ConfigError(
            f"Hermes needs a {whose} of {self.config.minimum_window:,} tokens and this one has {window:,}.",
            "Choose a model with a larger window, or lower minimum_window.",
            subject="minimum_window",
        )


def _new_bill(view: View, record: HermesRecord) -> Usage | None:
    """What the provider reported for the list as it is, where that was not taken in before."""
    if view.hook == "reply":
        return view.usage
    if view.usage is None or not 0 < view.billed <= len(view.input) or view.carried:
        return None
    index = view.input[view.billed - 1].index
    return view.usage if index is not None and index >= record.heard else None
