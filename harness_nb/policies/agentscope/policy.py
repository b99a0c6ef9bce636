"""AgentScope's compaction as it is: a failed summary still takes the place of what it failed to sum up.

Order, figures and cuts are those of the generation that its documentation describes. Lengths are UTF-16 units, as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Text
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Evict, Reply
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import View
from harness_nb.policies.agentscope.arguments import shortened
from harness_nb.policies.agentscope.config import AgentScopeConfig, AgentScopeEviction
from harness_nb.policies.agentscope.cutting import AgentScopeCut, cut
from harness_nb.policies.agentscope.sizes import AgentScopeSize
from harness_nb.policies.agentscope.texts import NO_HISTORY, SUMMARY_NAME, placeholder, summary, summary_request

FORCED_KEEP_MESSAGES = 20
"""Messages that the compaction after an overflow keeps; the user's own settings do not count there."""

OVERFLOW_MARKS = (
    "context_length_exceeded",
    "context length",
    "maximum context",
    "token limit",
    "too many tokens",
    "exceeds the model's maximum",
    "reduce the length",
)
"""What the text of an error holds, in lower case, when it counts as an overflow."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class AgentScopePolicy(CompactionPolicy):
    """Summarises what is old once a trigger fires.

    Args:
        config: Settings.
        name: Shown in events.

    Attributes:
        size: Tokens of a message by its own formula.
    """

    name = "agentscope"
    passes = 1
    hooks = frozenset({"request", "result", "overflow", "manual"})

    @staticmethod
    def is_summary(item: Item) -> bool:
        """True for a summary that an earlier compaction made, also one that came with a transcript."""
        return item.message.role == "user" and item.message.name == SUMMARY_NAME

    @staticmethod
    def text_of(message: Message) -> str:
        """The text of a result as it is measured and moved: its text parts, one behind the other."""
        return "".join(part.text for part in message.parts if isinstance(part, Text))

    def __init__(self, config: AgentScopeConfig | None = None, *, name: str = "agentscope") -> None:
        self.config = config or AgentScopeConfig()
        self.name = name
        self.size = AgentScopeSize(self.config.raw_content)
        self._bare = AgentScopeSize()

    def plan(self, view: View) -> Plan:
        """Moves large results out, or shortens arguments and compacts when a trigger fires or somebody asks for it."""
        if view.hook == "result":
            return self._evicted(view)
        if view.hook == "overflow":
            return self._recovered(view)
        items = self.shortened(view.input[:])
        pressure = self._pressure(view, items)
        if view.hook == "request" and not any(trigger.fired for trigger in pressure.triggers):
            return self._only_shortened(view, items, "below the triggers", pressure)
        where = self.cut(items)
        if where.safe <= 0:
            return self._only_shortened(view, items, "there is nothing before the cut", pressure)
        return self._compacted(view, items, where.safe, pressure)

    # Sizes

    def sizes(self, items: Sequence[Item]) -> list[int]:
        """Tokens of each item; shortened ones have lost their argument texts."""
        return [(self._bare if item.how == "truncated" else self.size)(item.message) for item in items]

    def _pressure(self, view: View, items: Sequence[Item]) -> Pressure:
        tokens = sum(self.sizes(items))
        by_messages = Trigger(
            name="trigger_messages", value=len(items), threshold=self.config.trigger_messages, unit="messages"
        )
        by_tokens = Trigger(name="trigger_tokens", value=tokens, threshold=self.config.trigger_tokens)
        triggers = tuple(one for one in (by_messages, by_tokens) if one.threshold > 0 and items)
        source = "estimated by UTF-16 units/2.5, without system prompt and schemas"
        return Pressure(tokens=tokens, window=view.model.window, triggers=triggers, source=source)

    def shortened(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """The items with long arguments of older calls shortened.

        Raises:
            HarnessError: As shipped, a limit below 20 meets an argument that is shorter than 20.
        """
        settings = self.config.truncate_args
        if settings is None or not items:
            return tuple(items)
        return shortened(items, self.sizes(items), settings, to_limit=self.config.shortens_to_limit)

    def _only_shortened(self, view: View, items: tuple[Item, ...], reason: str, pressure: Pressure) -> Plan:
        if self.config.keeps_shortened and not _same(items, view.input):
            return view.becomes(items, f"shortened arguments; {reason}", outcome="truncated", pressure=pressure)
        return view.unchanged(reason, outcome="noop", pressure=pressure)

    # The cut

    def cut(self, items: Sequence[Item], *, forced: bool = False) -> AgentScopeCut:
        """Where a list is cut.

        Args:
            items: The list.
            forced: After an overflow: the user's keep settings do not count.
        """
        keep_messages = FORCED_KEEP_MESSAGES if forced else self.config.keep_messages
        keep_tokens = 0 if forced else self.config.keep_tokens
        return cut(items, self.sizes(items), keep_messages=keep_messages, keep_tokens=keep_tokens)

    # The summary

    def _compacted(self, view: View, items: tuple[Item, ...], at: int, pressure: Pressure) -> Plan:
        prefix, tail = items[:at], items[at:]
        old = [item for item in prefix if not self.is_summary(item)]
        reply = view.reply(self.request(old)) if old else Reply(NO_HISTORY)
        if reply.failure is not None and reply.failure.kind == "throw":
            return view.unchanged(f"the call failed: {reply.failure.detail}", outcome="failed", pressure=pressure)
        cites = self.config.offload_before_compact or view.hook == "overflow"
        fired = [f"{one.value:,} {one.unit}" for one in pressure.triggers if one.fired]
        reason = f"{' and '.join(fired) or 'asked for'}: {len(prefix)} messages became a summary"
        return view.becomes((summary(reply, prefix, cites), *tail), reason, outcome="compressed", pressure=pressure)

    def request(self, items: Sequence[Item]) -> Ask:
        """The request for a summary: one message, the conversation in full but for results and arguments."""
        return summary_request(items, self.config.summary_prompt)

    # After an overflow

    def counts_as_overflow(self, error: str) -> bool:
        """Whether the text of an error is one of those that it takes for an overflow."""
        folded = error.lower()
        return any(mark in folded for mark in OVERFLOW_MARKS)

    def _recovered(self, view: View) -> Plan:
        """A compaction with the defaults; then the call's own messages are added, which are there already."""
        items = view.input[:]
        pressure = self._pressure(view, items)
        where = self.cut(items, forced=True)
        if where.safe <= 0:
            return view.unchanged("no more messages than are kept", outcome="noop", pressure=pressure)
        plan = self._compacted(view, items, where.safe, pressure)
        if plan.input is None:
            return plan
        begun = (item for item in items if item.index is not None and item.index >= view.turn)
        asked = takewhile(lambda item: item.message.role == "user", begun)
        return replace(plan, input=(*plan.input, *asked))

    # Large results

    def _evicted(self, view: View) -> Plan:
        settings = self.config.tool_result_eviction
        if settings is None:
            return view.unchanged("large results are the agent's to move")
        items = list(view.input)
        at = len(items)
        while at > 0 and items[at - 1].message.role == "tool":
            at -= 1
            items[at] = self._moved(view, items[at], settings)
        if _same(items, view.input):
            return view.unchanged("no result is too long", outcome="noop")
        return view.becomes(items, f"a result above {settings.max_result_chars:,} characters", outcome="evicted")

    def _moved(self, view: View, item: Item, settings: AgentScopeEviction) -> Item:
        text = self.text_of(item.message)
        is_exempt = item.message.name in settings.excluded_tool_names or item.how == "evicted"
        if item.index is None or is_exempt or utf16_len(text) <= settings.max_result_chars:
            return item
        reply = view.reply(Evict(index=item.index, call_id=item.message.call_id or "", text=text))
        if reply.failure is not None:
            return item
        preview = min(settings.preview_chars, utf16_len(text) // 2)
        message = replace(item.message, content=placeholder(text, reply.text, preview))
        return edits.edited(item, message, "evicted", path=reply.text, head=preview, tail=preview)

    def evicted_path(self, agent: str, call_id: str) -> str:
        """The file that a result goes to, as AgentScope names it."""
        folder = (self.config.tool_result_eviction or AgentScopeEviction()).eviction_path
        names = "/".join(_UNSAFE.sub("_", name) for name in (agent, call_id))
        if self.config.evicts_to_root and not folder.startswith("/"):
            folder = f"/{folder}"
        return f"{folder}/{names}"


def _same(items: Sequence[Item], before: Sequence[Item]) -> bool:
    return all(new is old for new, old in zip(items, before, strict=True))
