"""One replay under way: a conversation that grows message by message, and the policy called where the live loop would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from harness_nb.agent.conversation import Conversation, Surroundings, is_unseen
from harness_nb.agent.driver import Pass, finished, manage
from harness_nb.agent.eviction import is_too_large
from harness_nb.agent.overflow import learn
from harness_nb.core import edits
from harness_nb.core.config import PinsConfig, ToolResultEvictionConfig
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.pins import heeded
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy, Rest
from harness_nb.core.preview import placeholder
from harness_nb.core.tokens import Measure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.lab.answers import Answers, evicted
from harness_nb.lab.bills import Bills
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step

_START = datetime(1970, 1, 1, tzinfo=UTC)


class _Watched(CompactionPolicy):
    """A policy whose last plan can be looked at, as the driver keeps quiet about those that do nothing."""

    def __init__(self, policy: CompactionPolicy) -> None:
        self.name, self.passes, self.hooks = policy.name, policy.passes, policy.hooks
        self._policy = policy
        self.last: Plan | None = None

    def plan(self, view: View) -> Plan:
        self.last = self._policy.plan(view)
        return self.last


class _Point(NamedTuple):
    """What happened at one point, as `Step` has it."""

    number: int
    view: View
    after: ModelInput
    passes: tuple[Pass, ...] = ()
    made: Plan | None = None
    resting: CompactionPolicy | None = None


@dataclass(kw_only=True)
class Feeding:
    """One replay under way."""

    transcript: Transcript
    policy: CompactionPolicy
    answers: Answers
    measure: Measure
    limits: ModelLimits
    system: str | None
    tools: tuple[Tool, ...]
    eviction: ToolResultEvictionConfig | None
    pins: PinsConfig
    guarded: bool
    now: datetime = _START
    turn: int = 0
    step: int = 0
    recovered_turn: int = -1
    rest: Rest | None = None
    bills: Bills = field(default_factory=Bills)

    def __post_init__(self) -> None:
        self.watched = _Watched(self.policy)
        self.conversation = Conversation(self.measure, lambda: self.now)
        self.conversation.log = self.transcript.first(0)
        self.conversation.input = self.transcript.once(_uncut).first(0)
        self.around = self._surroundings(self.system or "")

    def feed(self, index: int) -> Iterator[Step]:
        """Takes one message in, and yields a record for each point at which the policy was called."""
        transcript = self.transcript
        message = transcript[index]
        self.now = message.time or self.now
        if message.role == "system":
            self._take_system(message)
        elif message.role == "user" and message.origin == "user":
            self.turn += 1
            self._heed(self.conversation.begin_turn(message))
            yield from self._at("turn")
        elif message.role == "assistant":
            yield from self._reply(message)
        elif message.role == "tool":
            self._take_result(message)
            if index + 1 == len(transcript) or transcript[index + 1].role != "tool":
                yield from self._at("result")
        else:
            self.conversation.add(message)

    def replay(self, steps: Sequence[Step], settings: Mapping[str, Any]) -> Replay:
        """What was brought so far."""
        log = self.conversation.log
        return Replay(
            transcript=self.transcript if len(log) == len(self.transcript) else log,
            policy=self.policy.name,
            steps=tuple(steps),
            final=self.view("request"),
            settings=settings,
            answered_by="assumed" if self.answers.model is None else self.answers.model.limits.name,
            guarded=self.guarded,
        )

    def _heed(self, index: int) -> None:
        """Pins the standing instructions in a message of the user, as the live loop does when a turn begins."""
        standing = self.transcript.once(_standing).get(index) if self.pins.rule and self.guarded else None
        if standing is None:
            return
        before, most = self.conversation.pins, self.pins.max_tokens
        pins = heeded(before, standing, index, max_tokens=most, size=lambda pin: self.measure.text(pin.text))
        if pins != before:
            self.conversation.set_pins(pins)
            self.rest = None

    def view(self, hook: Hook) -> View:
        """All that the policy would be given now."""
        return self.conversation.view(hook, self.around)

    def _take_system(self, message: Message) -> None:
        """Keeps a system message in the log, so that indices are the transcript's, and its text in the prompt."""
        self.conversation.log = self.conversation.log.append(message)
        if self.system is None:
            self.around = self._surroundings("\n\n".join(filter(None, (self.around.system, message.text))))

    def _take_result(self, message: Message) -> None:
        """Takes a result in; a large one is shown as a preview, as the live loop does, but no file is written."""
        index = self.conversation.add(message)
        if self.eviction is None or not is_too_large(message, self.eviction):
            return
        path = evicted(message.call_id or "", message.text, self.eviction.eviction_path)
        can_read = any(tool.name == "read_file" for tool in self.tools)
        shown = placeholder(message.text, path, preview_chars=self.eviction.preview_chars, can_read=can_read)
        if len(shown) < len(message.text):
            self.conversation.replace_item(edits.evicted(Item(index, message), shown, path))
            self.rest = None
            self.bills.changed()

    def _surroundings(self, system: str) -> Surroundings:
        self.rest = None
        return Surroundings(
            model=self.limits,
            system=system,
            tools=self.tools,
            system_tokens=self.measure.text(system),
            tool_tokens=self.measure.tools(self.tools),
        )

    def _reply(self, message: Message) -> Iterator[Step]:
        """The request that brought a recorded reply, an overflow of it, and the reply."""
        if self.conversation.input:
            yield from self._request(message)
        else:
            self._take_reply(message, self.view("request"))
        if not message.calls:
            yield from self._at("end")

    def _request(self, message: Message) -> list[Step]:
        """The point before a recorded reply, whether the policy wants to be called there or not, and an overflow."""
        point = self._acted("request")
        more: list[Step] = []
        now = self.view("request") if point.passes else point.view
        if now.tokens > self.limits.window and self.recovered_turn != self.turn:
            more = list(self._overflow(now.tokens))
            now = self.view("request")
        sent = self.conversation.outgoing
        size = now.tokens_of(sent)
        self._take_reply(message, now)
        return [self._step(point, sent=sent, sent_tokens=size, usage=message.usage), *more]

    def _take_reply(self, message: Message, now: View) -> None:
        self.bills.take(self.conversation, message, self.around, figure=now.tokens)

    def _overflow(self, tokens: int) -> Iterator[Step]:
        """What the live loop does when a provider refuses the input: one forced compaction a turn."""
        self.recovered_turn = self.turn
        refusal = Refusal(f"replayed: {tokens:,} tokens are above the window", tokens, self.limits.window)
        self.conversation.request_failed()
        learn(self.conversation, refusal, self.around)
        yield from self._at("overflow", error=refusal)

    def _at(self, hook: Hook, *, error: Refusal | None = None) -> Iterator[Step]:
        """A point that matters only to a policy that wants to be called there."""
        if hook in self.policy.hooks:
            yield self._step(self._acted(hook, error=error))

    def _acted(self, hook: Hook, *, error: Refusal | None = None) -> _Point:
        """Lets the policy act, if it wants to be called here and does not certainly rest."""
        before = self.view(hook)
        self.step += 1
        if hook not in self.policy.hooks:
            return _Point(self.step, before, before.input)
        if self._rests(before):
            return _Point(self.step, before, before.input, resting=self.policy)
        self.watched.last = None
        passes = self._driven(hook, error)
        if any(one.plan.changes and one.plan.lasts != "request" for one in passes):
            self.bills.changed()
        self.rest = self.policy.rests(self.view(hook))
        return _Point(self.step, before, self.conversation.input, passes, self.watched.last)

    def _rests(self, view: View) -> bool:
        """Whether the policy has promised to do nothing; above the window the driver itself has something to say."""
        if self.rest is None or view.hook in ("overflow", "manual"):
            return False
        return view.tokens < self.limits.window and self.rest.holds(view)

    def _driven(self, hook: Hook, error: Refusal | None) -> tuple[Pass, ...]:
        """What the driver makes of the policy, with its requests answered."""
        steps = manage(
            self.conversation,
            self.watched,
            hook,
            self.around,
            error=error,
            guarded=self.guarded,
            assumes=self.answers.model is None,
        )
        return finished(steps, self.answers.at_once)

    def _step(self, point: _Point, **sent: Any) -> Step:
        number, before, after, passes, made, resting = point
        return Step(
            step=number,
            turn=self.turn,
            view=before,
            after=after,
            passes=passes,
            made=made,
            resting=resting,
            **sent,
        )


def _uncut(transcript: Transcript) -> ModelInput:
    """The list as it is when nothing was ever cut: replays share its items and sums up to their first compaction."""
    seen = ((index, one) for index, one in enumerate(transcript) if one.role != "system" and not is_unseen(one))
    return ModelInput(Item(index, message) for index, message in seen)


def _standing(transcript: Transcript) -> dict[int, tuple[str, ...]]:
    """The standing instructions of every message of the user that has some, by its index."""
    from harness_nb.core.instructions import standing_instructions  # only for messages: importing has to be quick

    said = ((at, one) for at, one in enumerate(transcript) if one.role == "user" and one.origin == "user")
    found = ((at, standing_instructions(one.text)) for at, one in said)
    return {at: texts for at, texts in found if texts}
