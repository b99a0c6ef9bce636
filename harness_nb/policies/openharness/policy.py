"""OpenHarness' compaction, as a policy: four steps, of which the last asks a model and is hardly ever reached."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import Hook, View
from harness_nb.policies.openharness.carryover import Carryover
from harness_nb.policies.openharness.checkpoint import checkpoint
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.offload import artifact_path, offloaded
from harness_nb.policies.openharness.overflow import is_overflow_text
from harness_nb.policies.openharness.peers import peers_of, sanitized
from harness_nb.policies.openharness.record import OpenHarnessRecord
from harness_nb.policies.openharness.sizes import OpenHarnessEstimate
from harness_nb.policies.openharness.summary import INSTRUCTION
from harness_nb.policies.openharness.tracking import Tracked
from harness_nb.policies.openharness.work import Done, Given, Work

_TRIGGERS = {"request": "auto", "overflow": "reactive", "manual": "manual"}
_OUTCOMES = {
    "masked": "cleared old results",
    "truncated": "cut the middle out of long texts",
    "condensed": "put a digest in the place of older messages",
    "compressed": "put a model's summary in the place of older messages",
    "passthrough": "put a marker in front and left the rest",
    "digest": "put the beginnings of some texts in the place of older messages",
    "failed": "the summary failed",
}


class OpenHarnessPolicy(CompactionPolicy):
    """Clears old results, cuts long texts, writes a digest, and only for short conversations asks for a summary.

    Args:
        config: Settings.
        name: Shown in events.

    Attributes:
        estimate: Tokens of a list by its own formula.
        instruction: What a model is asked for.
    """

    name = "openharness"
    passes = 2
    record = OpenHarnessRecord
    instruction = INSTRUCTION
    messages_of = staticmethod(peers_of)
    sanitized = staticmethod(sanitized)
    checkpoint_of = staticmethod(checkpoint)
    counts_as_overflow = staticmethod(is_overflow_text)
    artifact_path = staticmethod(artifact_path)
    tracked = Tracked

    def __init__(self, config: OpenHarnessConfig | None = None, *, name: str = "openharness") -> None:
        self.config = config or OpenHarnessConfig()
        self.name = name
        self.estimate = OpenHarnessEstimate(self.config)
        by_itself: set[Hook] = {"request", "result", "end"} if self.config.automatic else set()
        self.hooks = frozenset({*by_itself, "overflow", "manual"})

    def plan(self, view: View) -> Plan:
        """Acts before a request over the threshold, after a refusal, and by hand; files large results; writes checkpoints."""
        if view.hook == "result":
            return offloaded(view, self.config)
        if view.hook == "end":
            return self._written_down(view)
        pressure = self._pressure(view)
        if not self.acts(view):
            return view.unchanged(self._why_not(view), state=self.remembered(view), pressure=pressure)
        done = self.work(view)
        return self._planned(view, done, pressure)

    # Whether

    def acts(self, view: View) -> bool:
        """Whether anything is tried."""
        if view.done:
            return True
        if view.hook == "overflow":
            known = view.error is not None and is_overflow_text(view.error.text)
            return known or not self.config.only_known_overflows
        if view.hook == "manual":
            return self.kept_by_hand(view.words) is not None
        return self.remembered(view).failures < self.config.failure_limit and self._is_over(view)

    def kept_by_hand(self, words: str) -> int | None:
        """How many messages stay by the words of a manual call; None when they are no number."""
        if not words.strip():
            return self.config.keep_messages
        try:
            return max(1, int(words))
        except ValueError:
            return None

    def threshold(self, view: View) -> int:
        """Estimated tokens at which it acts."""
        return self.config.threshold(view.model.window)

    def _is_over(self, view: View) -> bool:
        return self.estimate(view.input) >= self.threshold(view)

    def _why_not(self, view: View) -> str:
        if view.hook == "manual":
            return f"{view.words.strip()!r} is no number of messages"
        if view.hook == "overflow":
            return "the refusal is in words that it does not know"
        return "summaries failed too often" if self._is_over(view) else "below the threshold"

    def _pressure(self, view: View) -> Pressure:
        tokens = self.estimate(view.input)
        trigger = Trigger(name="auto_compact_threshold_tokens", value=tokens, threshold=self.threshold(view))
        return view.pressure(tokens=tokens, triggers=(trigger,) if self.config.automatic else ())

    # What

    def remembered(self, view: View) -> OpenHarnessRecord:
        """The record in force: failures are forgotten with a new message of the user, as shipped."""
        record = view.state if isinstance(view.state, OpenHarnessRecord) else OpenHarnessRecord(turn=view.turn)
        if record.turn == view.turn:
            return record
        forgets = self.config.breaker_scope == "run"
        return replace(record, turn=view.turn, failures=0 if forgets else record.failures)

    def work(self, view: View) -> Done:
        """What is done, step by step."""
        work = Work(view, self.config, self.estimate, self._given(view))
        if view.hook == "manual":
            return work.by_hand()
        if view.done:
            return work.rest(view.input[:])
        first = work.first()
        is_enough = bool(first.freed) and not work.is_over(first.items)
        return first if is_enough or self._takes_two(view, first) else work.rest(first.items)

    def _takes_two(self, view: View, first: Done) -> bool:
        """Whether clearing is a pass of its own, since it stays when the request after it fails and the rest does not."""
        return first.outcome == "masked" and self.estimate(first.items) < self.estimate(view.input)

    def _given(self, view: View) -> Given:
        record = self.remembered(view)
        told = view.host.get("checkpoint")
        written = told if isinstance(told, str) else record.checkpoint
        if written and not self.config.trusts_checkpoint:
            written = self.written(view)
        keep = self.kept_by_hand(view.words) if view.hook == "manual" else None
        return Given(
            trigger=_TRIGGERS[view.hook],
            keep=keep or self.config.keep_messages,
            carryover=self._carryover(view),
            checkpoint=written,
            record=record,
            threshold=self.threshold(view),
        )

    def _carryover(self, view: View) -> Carryover:
        """The state of the work: the host's, or what the log tells."""
        told = view.host.get("carryover")
        return told if isinstance(told, dict) else Tracked.of(view.log).state

    def _planned(self, view: View, done: Done, pressure: Pressure) -> Plan:
        reason = _OUTCOMES.get(done.outcome, "there is nothing to do")
        if done.items == view.input[:]:
            return view.unchanged(reason, outcome=done.outcome, state=done.record, pressure=pressure)
        again = view.hook != "manual" and not view.done and self._goes_on(view, done)
        is_undone = not (self.config.keeps_after_error or done.outcome == "masked" or view.hook == "manual")
        return view.becomes(
            done.items,
            reason,
            outcome=done.outcome,
            lasts="reply" if is_undone else "session",
            state=done.record,
            pressure=pressure,
            again=again,
        )

    def _goes_on(self, view: View, done: Done) -> bool:
        """Whether more is to be done after clearing."""
        return done.outcome == "masked" and Work(view, self.config, self.estimate, self._given(view)).is_over(
            done.items
        )

    # The checkpoint

    def _written_down(self, view: View) -> Plan:
        """Keeps the checkpoint of the turn that ended."""
        if not self.config.use_checkpoint:
            return view.unchanged("keeps no checkpoint")
        return view.unchanged(
            "wrote the checkpoint", state=replace(self.remembered(view), checkpoint=self.written(view))
        )

    def written(self, view: View) -> str:
        """The checkpoint of the list as it stands."""
        return checkpoint(peers_of(view.input), self._carryover(view).get("task_focus_state") or {}).text
