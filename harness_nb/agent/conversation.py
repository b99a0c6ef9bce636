"""The state of one conversation: what was said, what the model sees of it, and what the policy remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from harness_nb.core import edits
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.pins import Pin, restored
from harness_nb.core.plan import Plan, Trigger
from harness_nb.core.rounds import pairs
from harness_nb.core.tokens import Calibration, Measure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, Refusal, View


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is sent beside the messages.

    Attributes:
        model: Limits of the model.
        system: System prompt with injected memory.
        tools: Tools offered.
        system_tokens: Estimated tokens of the system prompt alone.
        memory_tokens: Estimated tokens of the injected memory.
        tool_tokens: Estimated tokens of the schemas.
        host: What only the loop knows.
    """

    model: ModelLimits
    system: str = ""
    tools: tuple[Tool, ...] = ()
    system_tokens: int = 0
    memory_tokens: int = 0
    tool_tokens: int = 0
    host: Mapping[str, object] = field(default_factory=dict)

    @property
    def fixed_tokens(self) -> int:
        """Estimated tokens of all of it."""
        return self.system_tokens + self.memory_tokens + self.tool_tokens


MATERIAL_SHARE = 0.05
"""Growth, as a share of the window, after which a compaction that brought too little may be tried again."""

FAILURES_BEFORE_REST = 3
"""Calls in a row that may fail or gain too little before only material growth starts another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Why compaction rests, and until when.

    Attributes:
        reason: In words.
        failures: Calls in a row that failed or brought too little.
        length: Messages in the log at the last of them.
        tokens: Size of the input then.
        messages: Items of the input then.
        growth_tokens: Tokens by which the input must grow first; 0 when one message is enough.
        growth_messages: Items by which it may grow instead, or None.
    """

    reason: str
    failures: int
    length: int
    tokens: int
    messages: int
    growth_tokens: int = 0
    growth_messages: int | None = None

    def holds(self, view: View) -> str:
        """Why compaction rests still, or empty."""
        if len(view.log) == self.length:
            return f"rests until the conversation grows: {self.reason}"
        if view.tokens - self.tokens >= self.growth_tokens:
            return ""
        if self.growth_messages is not None and len(view.input) - self.messages >= self.growth_messages:
            return ""
        return f"rests until the input has grown by {self.growth_tokens:,} tokens: {self.reason}"


class Conversation:
    """One conversation, without any file or model: messages come in, plans change what the model sees.

    Args:
        measure: The session's own measure of a message.
        now: Gives the time.

    Attributes:
        log: All that was said.
        input: What the model sees of it.
        turn: Log index where the turn in progress began.
        usage: The last bill; it covers the first `billed` items, which differ from it by `carried` tokens.
        scale: Factor on estimates, learnt from a refusal.
        calibration: What bills have taught about estimates.
        window: A window that the provider named when it refused a request, or None.
        pins: Texts that stay word for word through every compaction.
        state: The policy's record.
        next_input: The list of the next request only, or None.
        before_request: What the list was before a change that lasts only when a reply comes, and the log's length then.
        stall: Why compaction rests, or None.
        has_system_items: Whether a policy may have put texts into the lists that belong to the system prompt.
    """

    def __init__(self, measure: Measure, now: Callable[[], datetime]) -> None:
        self.measure = measure
        self.now = now
        self.log = Transcript()
        self.input = ModelInput()
        self.turn = 0
        self.usage: Usage | None = None
        self.billed = 0
        self.carried = 0
        self.scale = 1.0
        self.calibration = Calibration()
        self.window: int | None = None
        self.pins: tuple[Pin, ...] = ()
        self.state: object = None
        self.next_input: ModelInput | None = None
        self.before_request: tuple[ModelInput, int, int, int] | None = None
        self.stall: Stall | None = None
        self.has_system_items = False

    def add(self, message: Message) -> int:
        """Takes a message in; returns its log index."""
        index = len(self.log)
        self.log = self.log.append(message)
        item = Item(index, message)
        self.input = self.input.append(item)
        if self.next_input is not None:
            self.next_input = self.next_input.append(item)
        return index

    def replace_item(self, item: Item) -> None:
        """Lets the model see a message, by its log index, as an edited item."""
        at = next((at for at in range(len(self.input) - 1, -1, -1) if self.input[at].index == item.index), None)
        if at is not None:
            self.input = ModelInput((*self.input[:at], item, *self.input[at + 1 :]))

    def replace_input(self, items: ModelInput) -> None:
        """Replaces the list; it is no longer what was billed."""
        self.input = items
        self.has_system_items = _any_system(items)
        self.billed = self.carried = 0
        self.next_input = None

    def begin_turn(self, message: Message) -> int:
        """Takes a user message in, with which a turn begins."""
        self.turn = len(self.log)
        return self.add(message)

    def add_reply(self, message: Message) -> int:
        """Takes a model's reply in; its usage becomes the bill that the token figure starts from.

        A blank reply is logged, but not shown to the model: providers refuse a list that holds one.
        """
        covers_all = self.next_input is None
        self.next_input = None
        self.before_request = None
        if is_unseen(message):
            self.log = self.log.append(message)
            return len(self.log) - 1
        if message.usage is not None and covers_all:
            self._learn(message.usage)
        index = self.add(message)
        if message.usage is not None and covers_all:
            self.usage, self.billed, self.carried = message.usage, len(self.input), 0
        return index

    def _learn(self, usage: Usage) -> None:
        """Compares a bill with the one before it, where the list has only grown since."""
        if self.usage is None or not self.billed or self.carried:
            return
        before = self.usage.input_tokens + self.usage.output_tokens
        since = self.input.messages.tokens(self.measure, self.billed)
        self.calibration = self.calibration.grown(usage.input_tokens - before, since)

    @property
    def outgoing(self) -> ModelInput:
        """The items that the next request sends."""
        return self.input if self.next_input is None else self.next_input

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last calling message that have no result yet; two of one id need two."""
        start = len(self.log)
        while start > 0 and self.log[start - 1].role == "tool":
            start -= 1
        answered = [message.call_id for message in self.log[start:]]
        found = []
        for call in self.log[start - 1].calls if start else ():
            if call.id in answered:
                answered.remove(call.id)
            else:
                found.append(call)
        return tuple(found)

    def view(
        self,
        hook: Hook,
        around: Surroundings,
        *,
        done: tuple[Plan, ...] = (),
        words: str = "",
        error: Refusal | None = None,
        strict: bool = False,
    ) -> View:
        """All that a policy may know now."""
        return View(
            log=self.log,
            input=self.input,
            turn=self.turn,
            hook=hook,
            words=words,
            error=error,
            model=around.model,
            usage=self.usage,
            billed=self.billed,
            carried=self.carried,
            fixed_tokens=around.fixed_tokens,
            measure=self.measure,
            scale=max(self.scale, self.calibration.factor),
            system=around.system,
            tools=around.tools,
            host=around.host,
            pins=self.pins,
            now=self.now(),
            done=done,
            state=self.state,
            strict=strict,
        )

    def commit(self, view: View, plan: Plan) -> None:
        """Makes a plan's list and state the conversation's; what was said since the view is appended."""
        if plan.input is not None:
            self._take_list(view, plan)
        self.state = plan.state

    def _take_list(self, view: View, plan: Plan) -> None:
        after = view.after(plan)
        since = self._said_since(len(view.log))
        has_system_items = _any_system(after.input)
        if plan.lasts == "request":
            self.next_input = after.input.append(*since)
            self.has_system_items = self.has_system_items or has_system_items
            return
        now = (self.input, self.billed, self.carried, len(self.log))
        self.before_request = now if plan.lasts == "reply" else None
        self.input, self.next_input = after.input.append(*since), None
        self.billed, self.carried = after.billed, after.carried
        self.has_system_items = has_system_items

    def _said_since(self, length: int) -> list[Item]:
        """What was said since the log had that length, as it is shown now."""
        known = {item.index: item for item in self.input[-(len(self.log) - length) :]} if length < len(self.log) else {}
        said = [index for index in range(length, len(self.log)) if not is_unseen(self.log[index])]
        return [known.get(index) or Item(index, self.log[index]) for index in said]

    def request_failed(self) -> bool:
        """Undoes what was to last only with a reply; what was said since stays. True when that changed the list."""
        self.next_input = None
        if self.before_request is None:
            return False
        items, self.billed, self.carried, length = self.before_request
        self.before_request = None
        self.input = items.append(*self._said_since(length))
        self.has_system_items = _any_system(self.input)
        self.set_pins(self.pins)
        return True

    def restore(self, messages: Iterable[Message], items: Iterable[Item] | None, said_since: int) -> None:
        """Takes a stored conversation over.

        Args:
            messages: All of its log.
            items: What the model saw at the last stored change of the list, or None when it never changed.
            said_since: Length of the log at that change.
        """
        self.log = Transcript(messages)
        start = 0 if items is None else said_since
        since = (Item(index, self.log[index]) for index in range(start, len(self.log)))
        self.input = ModelInput([*(items or ()), *(item for item in since if not is_unseen(item.message))])
        self.has_system_items = _any_system(self.input)
        self.turn = len(self.log)

    def set_pins(self, pins: tuple[Pin, ...]) -> None:
        """Keeps texts word for word from now on; what the list does not show stands in a note at its start at once."""
        self.pins = pins
        if self.next_input is not None:
            self.next_input = ModelInput(edits.opened(restored(pins, self.next_input[:])))
        items = edits.opened(restored(pins, self.input[:]))
        if items == self.input[:]:
            return
        differs = sum(map(self.measure, (item.message for item in items))) - self.input.messages.tokens(self.measure)
        added = len(items) - len(self.input)
        self.input = ModelInput(items)
        if self.billed:
            self.billed, self.carried = self.billed + added, self.carried + differs

    def failed(self, reason: str, view: View) -> None:
        """Notes a call that failed or gained too little; after a few in a row the next waits for material growth."""
        failures = self.stall.failures + 1 if self.stall is not None else 1
        rests = failures >= FAILURES_BEFORE_REST
        growth = round(MATERIAL_SHARE * view.model.window) if rests else 0
        self._rest(reason, failures, view, growth_tokens=growth)

    def is_stuck(self, reason: str, view: View, triggers: Sequence[Trigger]) -> None:
        """Notes a call after which triggers fire still: the next waits for material growth."""
        growth = [
            round(MATERIAL_SHARE * view.model.window),
            *(one.threshold for one in triggers if one.unit == "tokens"),
        ]
        by_messages = [max(1, one.threshold // 2) for one in triggers if one.unit == "messages"]
        self._rest(reason, 1, view, growth_tokens=min(growth), growth_messages=min(by_messages, default=None))

    def _rest(self, reason: str, failures: int, view: View, **growth: int | None) -> None:
        now = replace(view, log=self.log, input=self.input, billed=self.billed, carried=self.carried)
        self.stall = Stall(
            reason=reason,
            failures=failures,
            length=len(self.log),
            tokens=now.tokens,
            messages=len(self.input),
            **growth,  # type: ignore[arg-type]  # the two names of growth
        )

    def succeeded(self) -> None:
        """Notes a call that gained."""
        self.stall = None


def is_unseen(message: Message) -> bool:
    """True for a blank reply: it is logged, but providers refuse a list that holds one."""
    return message.role == "assistant" and message.is_blank


def _any_system(items: Iterable[Item]) -> bool:
    """Whether a policy put texts into the list that belong to the system prompt."""
    return any(item.message.role == "system" for item in items)


def unanswered(log: Transcript) -> frozenset[int]:
    """Log indices of what no reply of the model has answered yet: user messages, or calls and their results, at the end."""
    start = len(log)
    while start > 0 and log[start - 1].role in ("user", "tool"):
        start -= 1
    if start < len(log) and log[start].role == "tool":
        call_of = pairs(log[max(0, start - 1) :])
        start -= bool(call_of)
    return frozenset(range(start, len(log)))


def scaled(conversation: Conversation, refusal: Refusal, around: Surroundings) -> float:
    """The factor that brings the estimate up to what the provider counted in a refused request."""
    view = conversation.view("overflow", around)
    bare = replace(view, usage=None, billed=0, carried=0, scale=1.0).tokens
    counted = refusal.input_tokens or (refusal.window or around.model.window) + 1
    return max(conversation.scale, counted / bare) if bare else conversation.scale
