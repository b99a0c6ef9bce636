"""A list of messages in, the list that a policy makes of it out: what the adapters for other packages are made of.

A compactor of another package keeps nothing between two calls: it is given a list, which may hold what it made of an
earlier one. So what a policy made carries a mark, from which it is taken up as what it was: a summary as a summary, a note
of pins with its pins, and with the first of them what the policy remembers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Effect, Pass, manage
from harness_nb.core import pins as pinning
from harness_nb.core.config import PinsConfig
from harness_nb.core.instructions import standing_instructions
from harness_nb.core.item import How, Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.pins import Pin
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, Refusal
from harness_nb.errors import HarnessError
from harness_nb.lab.replay import chosen
from harness_nb.presets import Preset

MARK = "harness_nb"
"""Name under which a mark stands in the fields that a package keeps for others."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Mark = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """One message of a list that is to be compacted.

    Attributes:
        message: The message.
        mark: What an earlier compaction said of it where that made it, or None for what was said.
    """

    message: Message
    mark: Mark | None = None


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A policy, and the limits under which it acts on lists of another package.

    Attributes:
        policy: Decides.
        limits: Those of the model, as the policy's preset sees them.
        pins: Whether the user's standing instructions are pinned, and up to how many tokens.
        measure: Sizes of messages.
    """

    policy: CompactionPolicy
    limits: ModelLimits
    pins: PinsConfig
    measure: Measure = field(default_factory=lambda: Measure(CharsCounter()))

    @classmethod
    def of(
        cls, policy: str | Preset | CompactionPolicy, *, window: int | None = None, pins: PinsConfig | None = None
    ) -> Applied:
        """A preset by name, a preset, or a policy, with the pins of the preset unless others are given.

        Args:
            policy: What compacts; a policy alone pins nothing by itself.
            window: Context window in tokens; by default what the preset assumes for a model that nothing is known of.
            pins: What stays word for word.

        Raises:
            ConfigError: There is no such preset, or the window is no number of tokens.
        """
        preset = presets.get(policy) if isinstance(policy, str) else policy
        acting, limits = chosen(preset, "unknown", window)
        own = preset.pins if isinstance(preset, Preset) else PinsConfig(rule=False, tool=False)
        return cls(policy=acting, limits=limits, pins=pins or own)

    def within(self, window: int) -> Applied:
        """The same under another window, in tokens; pins may fill half of it at most."""
        limits = replace(self.limits, window=window, window_source="user")
        most = max(1, min(self.pins.max_tokens, window // 2))
        return replace(self, limits=limits, pins=replace(self.pins, max_tokens=most))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What became of a list.

    Attributes:
        given: The list before, prompt and all.
        items: The list after, without the system prompt.
        places: For each message that was said, by its log index, its place in the list before.
        pins: What stays word for word.
        state: What the policy remembers.
        passes: What the driver did, a record for each plan.
    """

    given: tuple[Given, ...]
    items: tuple[Item, ...]
    places: tuple[int, ...]
    pins: tuple[Pin, ...] = ()
    state: object = None
    passes: tuple[Pass, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the list is another one than before."""
        return any(one.plan.changes for one in self.passes)

    @property
    def reason(self) -> str:
        """What the driver says of the last plan, or empty."""
        return self.passes[-1].reason if self.passes else ""

    @property
    def error(self) -> HarnessError | None:
        """Why the policy wants the turn to end, or None."""
        return self.passes[-1].plan.error if self.passes else None

    def place(self, item: Item) -> int | None:
        """Where the list before shows the same message, word for word, or None for what was made or changed."""
        if item.index is None or item.how != "kept":
            return None
        return self.places[item.index]

    def mark(self, item: Item) -> Mark | None:
        """What is to be known of an item when its list comes back, as JSON values; None for a message that was said."""
        if item.index is not None:
            return None
        mark: dict[str, Any] = {"how": item.how, "meta": dict(item.meta)}
        if pinning.is_note(item):
            mark["pins"] = [pin.text for pin in self.pins]
        if is_dataclass(self.state) and item is next((one for one in self.items if one.index is None), None):
            mark["state"] = asdict(cast(Any, self.state))
        return mark

    def again(self) -> tuple[Given, ...]:
        """The list after, to be given once more: the prompt and all items, what was made with its mark."""
        prompt = (one for one in self.given if one.message.role == "system" and one.mark is None)
        return (*prompt, *(Given(item.message, self.mark(item)) for item in self.items))


Steps = Generator[Effect, Answer, Compacted]


def compacting(
    given: Sequence[Given], applied: Applied, hook: Hook, *, words: str = "", tools: tuple[Tool, ...] = ()
) -> Steps:
    """Lets a policy act once on a list.

    Args:
        given: The list, system prompt included.
        applied: What acts.
        hook: Why: `request` before each request to the model, `manual` when told to, `overflow` when it must get shorter.
        words: What is asked of a manual compaction.
        tools: Tools that are offered, for the size of their schemas.

    Yields:
        What is to be done, as the driver does.

    Returns:
        The list after.
    """
    listed, conversation, around = _taken(given, applied, tools)
    error = None
    if hook == "overflow":
        tokens = conversation.view(hook, around).tokens
        error = Refusal(f"{tokens:,} tokens are above the window", tokens, applied.limits.window)
    passes = yield from manage(conversation, applied.policy, hook, around, words=words, error=error, offload=False)
    return replace(listed, items=conversation.outgoing[:], state=conversation.state, passes=passes)


def _taken(
    given: Sequence[Given], applied: Applied, tools: tuple[Tool, ...]
) -> tuple[Compacted, Conversation, Surroundings]:
    """A list as a conversation at the point at which it came."""
    said = [one for one in given if not _is_prompt(one)]
    places = tuple(at for at, one in enumerate(given) if not _is_prompt(one) and one.mark is None)
    conversation = Conversation(applied.measure, lambda: _EPOCH)
    conversation.log = Transcript(given[at].message for at in places)
    conversation.replace_input(ModelInput(_items(said)))
    users = [at for at, message in enumerate(conversation.log) if message.role == "user" and message.origin == "user"]
    conversation.turn = users[-1] if users else len(conversation.log)
    conversation.state = _state(given, applied.policy)
    pins = _pins(given, conversation.log, applied)
    conversation.set_pins(pins)
    system = "\n\n".join(one.message.text for one in given if _is_prompt(one))
    measure = applied.measure
    around = Surroundings(
        model=applied.limits,
        system=system,
        tools=tools,
        system_tokens=measure.text(system),
        tool_tokens=measure.tools(tools),
    )
    items = conversation.input[:]
    return Compacted(given=tuple(given), items=items, places=places, pins=pins), conversation, around


def _is_prompt(one: Given) -> bool:
    return one.message.role == "system" and one.mark is None


def _items(said: Sequence[Given]) -> list[Item]:
    """The items of a list; those that were made as they were made."""
    items, index = [], 0
    for one in said:
        if one.mark is None:
            items.append(Item(index, one.message))
            index += 1
        else:
            how = cast(How, one.mark.get("how", "note"))
            items.append(Item(None, replace(one.message, origin="harness"), how, (), dict(one.mark.get("meta", {}))))
    return items


def _state(given: Sequence[Given], policy: CompactionPolicy) -> object:
    """What the policy remembers, by the marks of the list; None where it is not this policy's."""
    stored = next((one.mark["state"] for one in given if one.mark and "state" in one.mark), None)
    if stored is None or policy.record is None:
        return None
    try:
        return policy.record(**{key: tuple(one) if isinstance(one, list) else one for key, one in stored.items()})
    except (TypeError, AttributeError, HarnessError):
        return None


def _pins(given: Sequence[Given], log: Transcript, applied: Applied) -> tuple[Pin, ...]:
    """The pins of earlier notes and the standing instructions of the user, of which some give way where they are too many."""
    texts = [(text, None) for one in given if one.mark for text in one.mark.get("pins", ())]
    pins = {text: Pin(text, "rule", index) for text, index in texts}
    for index, message in enumerate(log):
        if applied.pins.rule and message.role == "user" and message.origin == "user":
            for text in standing_instructions(message.text):
                pins.setdefault(text, Pin(text, "rule", index))
    kept = list(pins.values())
    while sum(applied.measure.text(pin.text) for pin in kept) > applied.pins.max_tokens:
        going = pinning.first_to_go(kept)
        kept = [pin for pin in kept if pin is not going]
    return tuple(kept)


async def afinished(steps: Steps, answer: Callable[[Effect], Awaitable[Answer]]) -> Compacted:
    """Carries the steps out where answers are awaited."""
    given: Answer = None
    while True:
        try:
            effect = steps.send(given)
        except StopIteration as end:
            return cast(Compacted, end.value)
        given = await answer(effect)
