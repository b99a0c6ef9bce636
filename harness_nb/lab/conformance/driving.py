"""What the adapters share: a conversation as recorded, a stub model that plays its answers, and the driver let loose.

The driver is the live one with its guards off, so that a system's faults come out as they were recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving, Pass, finished, manage
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Text
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.errors import ConfigError, ModelError
from harness_nb.presets import Preset

START = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of a case that names none."""


class Stub:
    """The recorded stub model: plays its answers in call order and then repeats the last.

    Attributes:
        asked: The requests so far, oldest first; anything that an adapter notes for a call.
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        self._answers = tuple(answers)
        self.asked: list[Any] = []

    def next(self, request: object) -> Any:
        """The answer to one more call.

        Raises:
            ModelError: There is no answer at all.
        """
        if not self._answers:
            raise ModelError("The recording has no answer for a model call.", "The system made none here.")
        self.asked.append(request)
        return self._answers[min(len(self.asked), len(self._answers)) - 1]

    @property
    def calls(self) -> int:
        """Model calls so far."""
        return len(self.asked)


def plain_reply(answer: Any) -> Reply:
    """A stub answer as a reply: a text, or `{"text": ...}`, or `{"error": ...}` as a failure."""
    if isinstance(answer, str) or answer is None:
        return Reply(answer or "")
    if "error" in answer:
        return Reply(None, Failure("error", str(answer["error"])))
    return Reply(str(answer.get("text", "")), finish=str(answer.get("finish", "")))


def conversation(
    messages: Sequence[Message],
    *,
    items: Sequence[Item] | None = None,
    now: Callable[[], datetime] = lambda: START,
    measure: Measure | None = None,
) -> Conversation:
    """A conversation in which everything was said; system messages are in the log, not in the list.

    Args:
        messages: What was said.
        items: What the model sees; by default every message that is no system message.
        now: Gives the time.
        measure: The session's own measure, for systems that go by it.
    """
    made = Conversation(measure or Measure(CharsCounter()), now)
    shown = [Item(index, one) for index, one in enumerate(messages) if one.role != "system"] if items is None else items
    made.restore(messages, shown, len(messages))
    users = [index for index, one in enumerate(messages) if one.origin == "user"]
    made.turn = users[-1] if users else len(messages)
    return made


def surroundings(messages: Sequence[Message], limits: ModelLimits, **fields: Any) -> Surroundings:
    """What is sent beside the messages: the system messages as one prompt, a line each."""
    return Surroundings(model=limits, system="\n".join(one.text for one in messages if one.role == "system"), **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """What came of calling a policy once.

    Attributes:
        view: What it was given first.
        plans: Its plans, also those that change nothing, in order.
        passes: What was carried out, refused or failed.
        items: The list that the next request sends.
    """

    view: View
    plans: tuple[Plan, ...]
    passes: tuple[Pass, ...]
    items: tuple[Item, ...]

    @property
    def asked(self) -> tuple[tuple[Ask, Reply], ...]:
        """The policy's model calls with their replies, in order."""
        return tuple(
            (request, reply) for one in self.passes for request, reply in one.asked if isinstance(request, Ask)
        )


def drive(
    talk: Conversation,
    policy: CompactionPolicy,
    hook: Hook,
    around: Surroundings,
    respond: Callable[[Effect], Answer],
    *,
    words: str = "",
    error: Refusal | None = None,
) -> Driven:
    """Lets a policy act at one point of the loop, without guards.

    Args:
        talk: The conversation; it changes as the policy wants.
        policy: Says what is to happen.
        hook: Why now.
        around: What is sent beside the messages.
        respond: What comes of a request, of messages leaving the list (None lets them go), and of a pass that begins.
        words: What the user typed with a manual call.
        error: The provider's refusal, with `overflow`.
    """
    watched = _Watched(policy)
    view = talk.view(hook, around, words=words, error=error)
    steps = manage(talk, watched, hook, around, words=words, error=error, guarded=False)
    passes = finished(steps, respond)
    plans = tuple(watched.plans[at] for at in sorted(watched.plans))
    return Driven(view=view, plans=plans, passes=passes, items=talk.outgoing[:])


def stubbed(stub: Stub, reply: Callable[[Any], Reply] = plain_reply) -> Callable[[Effect], Answer]:
    """A responder that asks the stub for every model call, lets messages leave, and refuses anything else."""

    def respond(effect: Effect) -> Answer:
        if isinstance(effect, Begun | Leaving):
            return None
        if isinstance(effect, Ask):
            return reply(stub.next(effect))
        return Failure("error", f"the recording has no answer to {type(effect).__name__}")

    return respond


@dataclass(eq=False)
class _Watched(CompactionPolicy):
    """A policy whose plans can be looked at, as the driver keeps quiet about those that do nothing."""

    policy: CompactionPolicy
    plans: dict[int, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name, self.passes, self.hooks = self.policy.name, self.policy.passes, self.policy.hooks

    def plan(self, view: View) -> Plan:
        plan = self.policy.plan(view)
        self.plans[len(view.done)] = plan
        return plan


def policy_of(preset: Preset) -> Any:
    """A preset's policy, with whatever it has beyond what every policy has.

    Raises:
        ConfigError: It has none.
    """
    if preset.policy is None:
        raise ConfigError(f"The preset {preset.name!r} has no compaction.", "Choose one that has.", subject=preset.name)
    return preset.policy


def verbatim(item: Item) -> dict[str, Any]:
    """The output item of a message that is as it was."""
    return {"kind": "verbatim", "index": item.index}


def named_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages in which each result has the name of the nearest earlier call with its id, as our loop gives it."""
    names: dict[str, str] = {}
    made = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        is_result = message.role == "tool"
        made.append(replace(message, name=names.get(message.call_id or "")) if is_result else message)
    return tuple(made)


def with_placeholders(messages: Sequence[Message], parts: Sequence[tuple[int, int]], text: str) -> tuple[Message, ...]:
    """Messages with some parts, by message and position, replaced by a text."""
    made = list(messages)
    for at, position in parts:
        content = list(made[at].parts)
        content[position] = Text(text)
        made[at] = replace(made[at], content=tuple(content))
    return tuple(made)
