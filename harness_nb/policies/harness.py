"""The harness's own compaction: triggers by messages or tokens, keeps the end, puts a four-section summary before it.

After AgentScope's documentation, with these differences: the call arguments that a pre-pass shortens stay short even
when no compaction follows; a tail that alone would fill half the trigger is kept shorter; an absolute trigger above what
the window leaves for input is lowered; the latest request of the user stays word for word wherever it stands; a failed,
blank or useless summary changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core import edits
from harness_nb.core.config import CompactionConfig, TruncateArgsConfig
from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item
from harness_nb.core.plan import Plan, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.view import View

TAIL_SHARE = 0.5
"""Most of the trigger that the kept end may fill, so that a pass gains at least as much as it leaves."""

OUTPUT_SHARE = 0.25
"""Most of the window that is held free for the reply and a margin when the model's own limit is larger."""

UNKNOWN_OUTPUT_TOKENS = 16_000
"""Room for the reply when the model's limit is not known."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A cut with what it moves."""

    cutoff: Cutoff
    old: tuple[Item, ...]
    back: tuple[Item, ...]
    recent: tuple[Item, ...]


class HarnessPolicy(CompactionPolicy):
    """Summarises what is old once the conversation is long.

    Args:
        config: Triggers, what stays, and the pre-pass.
        name: Shown in events.
    """

    name = "harness"

    def __init__(self, config: CompactionConfig | None = None, *, name: str = "harness") -> None:
        self.config = config or CompactionConfig()
        self.name = name
        if not (self.config.trigger_messages or self.config.trigger_tokens):  # automatic compaction is off
            self.hooks = frozenset({"manual"} if self.config.truncate_args is None else {"manual", "request"})

    def plan(self, view: View) -> Plan:
        """Shortens old arguments, and compacts when a trigger fires or somebody asks for it."""
        shortened = self._shortened(view)
        now = view if shortened is None else view.after(shortened)
        triggers = self.triggers(now)
        pressure = now.pressure(triggers=triggers)
        if view.hook == "request" and not any(trigger.fired for trigger in triggers):
            return shortened or view.unchanged(_quiet(triggers), pressure=pressure)
        plan = self._compacted(now, triggers)
        if not plan.changes and shortened is not None:
            return shortened
        return plan

    def triggers(self, view: View) -> tuple[Trigger, ...]:
        """The thresholds in force; the one for tokens is lowered to what the window leaves for input."""
        found = []
        if self.config.trigger_messages:
            found.append(
                Trigger(
                    name="trigger_messages",
                    value=len(view.input),
                    threshold=self.config.trigger_messages,
                    unit="messages",
                )
            )
        if self.config.trigger_tokens:
            found.append(Trigger(name="trigger_tokens", value=view.tokens, threshold=self.trigger_tokens(view)))
        return tuple(found)

    def trigger_tokens(self, view: View) -> int:
        """The token trigger in force."""
        return min(self.config.trigger_tokens or view.model.window, room_for_input(view))

    def _shortened(self, view: View) -> Plan | None:
        """The pre-pass on call arguments, or None when it is off or has nothing to do."""
        settings = self.config.truncate_args
        if settings is None or not _pre_pass_due(view, settings):
            return None
        stop = view.cutoff(keep_messages=settings.keep_messages, keep_tokens=settings.keep_tokens).index
        items = [
            edits.arguments_truncated(item, settings.max_arg_length)
            if at < stop and item.index is not None and item.index < view.turn
            else item
            for at, item in enumerate(view.input)
        ]
        changed = sum(new is not old for new, old in zip(items, view.input, strict=True))
        if not changed:
            return None
        reason = f"shortened arguments above {settings.max_arg_length:,} characters in {changed} older message(s)"
        return view.becomes(items, reason, outcome="truncated")

    def _compacted(self, view: View, triggers: Sequence[Trigger]) -> Plan:
        pressure = view.pressure(triggers=triggers)
        wish = self._wish(view)
        if not any(item.how != "summary" for item in wish.old):
            return view.unchanged("nothing is old enough to be summarised", outcome="skipped", pressure=pressure)
        reply = view.reply(Ask.summary(wish.old, prompt=self.config.summary_prompt, max_input_chars=_input_chars(view)))
        if reply.failure is not None or not reply.text.strip():
            why = reply.failure.detail or reply.failure.kind if reply.failure is not None else "the reply was blank"
            return view.unchanged(f"the summary failed: {why}", outcome="failed", pressure=pressure)
        items = (edits.summary(reply, of=wish.old), *wish.back, *wish.recent)
        reason = f"{_why(view, triggers)}; {wish.cutoff.reason}"
        return view.becomes(items, reason, pressure=pressure, cutoff=wish.cutoff)

    def _wish(self, view: View) -> _Wish:
        cutoff = self._cutoff(view)
        kept = view.kept_indices
        old = tuple(item for item in view.input[: cutoff.index] if item.index not in kept)
        back = tuple(item for item in view.input[: cutoff.index] if item.index in kept)
        return _Wish(cutoff, old, back, view.input[cutoff.index :])

    def _cutoff(self, view: View) -> Cutoff:
        """The configured cut, later when the tail alone would be too long, and never behind the last round."""
        halved = sum(plan.changes for plan in view.done)
        keep_messages, keep_tokens = self.config.keep_messages >> halved, self.config.keep_tokens
        wanted = view.cutoff(keep_messages=keep_messages, keep_tokens=_estimated(keep_tokens, view))
        room = self._room(view) >> halved
        shorter = view.cutoff(keep_tokens=_estimated(room, view))
        last_unit = view.input.messages.boundaries()[-2] if view.input else 0
        if shorter.index > wanted.index and (self._fires_by_tokens(view) or view.hook == "overflow"):
            reason = f"keeps about {room:,} tokens, since the last {keep_messages} messages alone are more"
            wanted = Cutoff(shorter.index, wanted.wanted, reason)
        if wanted.index > last_unit:
            return Cutoff(last_unit, wanted.wanted, "keeps the last round, which is not answered yet")
        return wanted

    def _room(self, view: View) -> int:
        """Tokens that the kept end may fill."""
        beside = round(view.fixed_tokens * view.scale)
        return max(1, int((self.trigger_tokens(view) - beside) * TAIL_SHARE))

    def _fires_by_tokens(self, view: View) -> bool:
        return view.tokens >= self.trigger_tokens(view)


def room_for_input(view: View) -> int:
    """Tokens that the window leaves for input once the reply and a margin are held free."""
    output = view.model.max_output or UNKNOWN_OUTPUT_TOKENS
    return view.model.window - min(output, int(view.model.window * OUTPUT_SHARE))


def _estimated(tokens: int, view: View) -> int:
    """Tokens as the provider counts them, in tokens of our own estimate, as cuts are measured."""
    return max(1, round(tokens / view.scale)) if tokens else 0


def _pre_pass_due(view: View, settings: TruncateArgsConfig) -> bool:
    by_messages = 0 < settings.trigger_messages <= len(view.input)
    return by_messages or 0 < settings.trigger_tokens <= view.tokens


def _input_chars(view: View) -> int:
    """Characters of conversation that fit into a request for a summary: half the window, at four characters a token.

    They are fewer where a token turned out to have fewer.
    """
    return max(2_000, int(view.model.window * 2 / view.scale))


def _quiet(triggers: Sequence[Trigger]) -> str:
    shown = [f"{one.value:,} of {one.threshold:,} {one.unit}" for one in triggers]
    return f"below the trigger: {', '.join(shown)}" if shown else "no trigger is set"


def _why(view: View, triggers: Sequence[Trigger]) -> str:
    if view.hook != "request":
        return "the provider refused the input as too long" if view.hook == "overflow" else "asked for"
    return ", ".join(f"{one.value:,} {one.unit} reach {one.name}={one.threshold:,}" for one in triggers if one.fired)
