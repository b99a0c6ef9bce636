"""A recorded transcript under a policy: messages are fed one by one, and the policy is called where the live loop would.

The recorded answers stand; only what the policy itself asks for is answered anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings, is_unseen
from harness_nb.agent.driver import Answer, Pass, manage
from harness_nb.agent.eviction import is_too_large
from harness_nb.agent.overflow import learn
from harness_nb.core import edits
from harness_nb.core.config import ToolResultEvictionConfig
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy, Rest
from harness_nb.core.preview import placeholder
from harness_nb.core.tokens import Measure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.errors import ConfigError
from harness_nb.lab.answers import Answers, evicted
from harness_nb.lab.bills import Bills
from harness_nb.lab.counting import measure_for
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.model.windows import limits_of
from harness_nb.presets import Preset

_START = datetime(1970, 1, 1, tzinfo=UTC)

Progress = Callable[[int, int], object]


def replay(
    transcript: Transcript,
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    window: int | None = None,
    model: str | Model | None = "offline",
    system: str | None = None,
    tools: Sequence[Tool] = (),
    eviction: ToolResultEvictionConfig | None = None,
    measure: Measure | None = None,
    guarded: bool = True,
    progress: Progress | None = None,
) -> Replay:
    """Feeds a transcript message by message and lets a policy act where the live loop would.

    Args:
        transcript: What was said.
        policy: Name of a preset, a preset, or a policy.
        window: Context window in tokens; by default that of the recorded model, or 128,000 where none is known.
        model: Answers the policy's own model calls: a name, a model, or None, which lets replies be assumed.
        system: The system prompt; by default the system messages of the transcript.
        tools: Tools as offered in the recorded session, for the size of their schemas.
        eviction: When large results are replaced by a preview, as an agent may be told to; None leaves them whole.
        measure: Sizes of messages; one that is shared between replays counts each message once.
        guarded: False lets a policy's faults through, for comparisons with a system as shipped.
        progress: Called with the number of messages fed and of all messages.

    Returns:
        A record for each point at which the policy was called, and the conversation at the end.

    Raises:
        ConfigError: The transcript, the policy, the model or the window is not valid.
    """
    _check_transcript(transcript)
    acting, limits = chosen(policy, transcript.model, window)
    run = _Run(
        transcript=transcript,
        policy=acting,
        answers=Answers(resolve(model) if model is not None else None),
        measure=measure or measure_for(transcript),
        limits=limits,
        system=system,
        tools=tuple(tools),
        eviction=eviction,
        guarded=guarded,
    )
    steps: list[Step] = []
    for index in range(len(transcript)):
        steps += run.feed(index)
        if progress is not None:
            progress(index + 1, len(transcript))
    return Replay(
        transcript=transcript,
        policy=acting.name,
        steps=tuple(steps),
        final=run.view("request"),
        settings=_settings(policy, acting),
        answered_by="assumed" if run.answers.model is None else run.answers.model.limits.name,
        guarded=guarded,
    )


def _settings(given: str | Preset | CompactionPolicy, acting: CompactionPolicy) -> dict[str, Any]:
    """The settings in force, and the variant where a preset has several."""
    if isinstance(given, CompactionPolicy):
        return dict(acting.settings)
    preset = presets.get(given) if isinstance(given, str) else given
    return {"variant": preset.variant, **preset.settings} if preset.variant else dict(preset.settings)


def _check_transcript(given: object) -> None:
    if isinstance(given, Transcript):
        return
    is_path = isinstance(given, str | Path)
    remedy = (
        f"Read it first: read_transcript({str(given)!r})." if is_path else "Give a Transcript: read_transcript(...)."
    )
    raise ConfigError(f"{given!r} is no transcript.", remedy, subject=given)


def chosen(
    policy: str | Preset | CompactionPolicy, model: str, window: int | None
) -> tuple[CompactionPolicy, ModelLimits]:
    """The policy that is meant, and the limits of a model as its preset sees them.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Name of the model, or empty.
        window: Context window in tokens, or None for what is known of the model.

    Raises:
        ConfigError: There is no such preset or policy, or the window is no number of tokens.
    """
    limits = limits_of(model or "unknown", window=window)
    if isinstance(policy, CompactionPolicy):
        return policy, limits
    preset = presets.get(policy) if isinstance(policy, str) else policy
    if not isinstance(preset, Preset):
        remedy = (
            f"Give one, such as {policy.__name__}()." if isinstance(policy, type) else "Give one, or a preset's name."
        )
        raise ConfigError(f"{policy!r} is no policy.", remedy, subject=policy)
    return preset.policy or _Off(), preset.limits(limits)


def _uncut(transcript: Transcript) -> ModelInput:
    """The list as it is when nothing was ever cut: replays share its items and sums up to their first compaction."""
    seen = ((index, one) for index, one in enumerate(transcript) if one.role != "system" and not is_unseen(one))
    return ModelInput(Item(index, message) for index, message in seen)


class _Off(CompactionPolicy):
    """Never acts: what a preset without compaction does."""

    name = "off"

    def plan(self, view: View) -> Plan:
        return view.unchanged("compaction is off")


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
class _Run:
    """One replay under way."""

    transcript: Transcript
    policy: CompactionPolicy
    answers: Answers
    measure: Measure
    limits: ModelLimits
    system: str | None
    tools: tuple[Tool, ...]
    eviction: ToolResultEvictionConfig | None
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
            self.conversation.begin_turn(message)
            yield from self._at("turn")
        elif message.role == "assistant":
            yield from self._reply(message)
        elif message.role == "tool":
            self._take_result(message)
            if index + 1 == len(transcript) or transcript[index + 1].role != "tool":
                yield from self._at("result")
        else:
            self.conversation.add(message)

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
        answer: Answer = None
        while True:
            try:
                effect = steps.send(answer)
            except StopIteration as end:
                return cast("tuple[Pass, ...]", end.value)
            answer = self.answers(effect)

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
