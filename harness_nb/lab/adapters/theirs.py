"""A compactor of another package as a policy: when it acts, and what it made as items.

Theirs are called while planning and may be called more than once for one plan, so they must be pure. Where one asks a model,
it is given one that looks the reply up in the view: the driver asks, as for every policy.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from harness_nb.core import edits, pins
from harness_nb.core.config import in_tokens, tokens_or_share
from harness_nb.core.item import How, Item, covered
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Failure, Reply, Request, Unknown
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, HarnessError, ModelError

T = TypeVar("T")

Made = Callable[[View], Sequence[Item] | None]


class NotKnown(BaseException):
    """Carries a request whose reply is not known yet through code that catches exceptions and tries again."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.request = request


class TheirPolicy(CompactionPolicy):
    """A compactor of another package; made by the function `policy` of its adapter.

    Args:
        name: Shown in events.
        made: The list that it makes of a view, or None where it leaves it.
        trigger_tokens: Tokens from which it acts, or a share of the window; None asks it at each request.
        settings: Shown in reports.

    Raises:
        ConfigError: The trigger is neither.
    """

    def __init__(
        self, name: str, made: Made, *, trigger_tokens: int | float | None, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.trigger_tokens = trigger_tokens
        if trigger_tokens is not None:
            tokens_or_share(self, "trigger_tokens")
        self._made = made
        self._settings = {"trigger_tokens": trigger_tokens, **(settings or {})}

    @property
    def settings(self) -> Mapping[str, Any]:
        """When it acts, and what was said of it when it was made."""
        return self._settings

    def plan(self, view: View) -> Plan:
        """What it makes of the list once the trigger fires, or when somebody asks for it."""
        triggers = self._triggers(view)
        pressure = view.pressure(triggers=triggers)
        if view.hook == "request" and triggers and not triggers[0].fired:
            return view.unchanged("below the trigger", pressure=pressure)
        try:
            items = self._made(view)
        except NotKnown as signal:
            raise Unknown(signal.request) from None
        if items is None or tuple(items) == view.input[:]:
            return view.unchanged(f"{self.name} leaves the list as it is", pressure=pressure)
        return view.becomes(items, f"{self.name} made another list", pressure=pressure)

    def _triggers(self, view: View) -> tuple[Trigger, ...]:
        if self.trigger_tokens is None:
            return ()
        threshold = in_tokens(self.trigger_tokens, view.model.window)
        return (Trigger(name="trigger_tokens", value=view.tokens, threshold=threshold),)


def asked(view: View, messages: Iterable[Message], *, max_tokens: int | None = None, nth: int = 0) -> str:
    """What a model answers, of which theirs knows nothing but its text.

    Raises:
        NotKnown: Nobody was asked yet.
        ModelError: The model failed.
    """
    request = Ask(purpose="summary", messages=tuple(messages), max_tokens=max_tokens, nth=nth)
    try:
        reply: Reply = view.reply(request)
    except Unknown as signal:
        raise NotKnown(signal.request) from None
    failure: Failure | None = reply.failure
    if failure is not None:
        raise ModelError(f"The model failed: {failure.detail or failure.kind}.", "Ask again, or choose another model.")
    return reply.text


def stood_for(
    view: View, keep_messages: int, write: Callable[[tuple[Item, ...]], str | None], how: How
) -> tuple[Item, ...] | None:
    """The list with a text in the place of its older part; the latest request of the user stays, wherever it stands.

    Args:
        view: The conversation.
        keep_messages: Messages at the end that stay at least, in whole rounds.
        write: The text for some items, or None where there is none.
        how: What the text is: `note` where no model wrote it, otherwise `summary`.

    Returns:
        The new list, or None where nothing is old but what was written before.
    """
    cut = view.cut(keep_messages=keep_messages)
    before = [item for item in cut.old if not pins.is_note(item)]
    old = tuple(item for item in before if item.index not in view.kept_indices)
    if all(item.index is None for item in old):
        return None
    text = write(old)
    if text is None:
        return None
    back = (item for item in before if item.index in view.kept_indices)
    made = (Item(None, Message.user(text, origin="harness"), how, covered(old)),) if text.strip() else ()
    return pins.restored(view.pins, (*made, *back, *cut.recent))


def relisted(view: View, after: Iterable[tuple[int | None, Message]], how: How) -> tuple[Item, ...]:
    """A list of messages as items.

    Args:
        view: The conversation before.
        after: The new list: for each message the place of the item that it comes from, or None for what is new.
        how: What is new is: `note` where no model wrote it, otherwise `summary`.
    """
    items: list[Item] = []
    for place, message in after:
        if place is None:
            items.append(Item(None, message, how))
        else:
            item = view.input[place]
            items.append(item if item.message == message else edits.edited(item, message, _edit(item, message)))
    shown = {item.index for item in items}
    gone = tuple(index for index in covered(view.input) if index not in shown)
    new = next((at for at, item in enumerate(items) if item.index is None and not item.stands_for), None)
    if new is not None:
        one = items[new]
        items[new] = Item(None, one.message, one.how, gone, one.meta)
    return tuple(items)


def _edit(item: Item, message: Message) -> How:
    """`cleared` for a result that is all but gone, `truncated` for whatever else got shorter."""
    is_result = item.message.role == "tool"
    return "cleared" if is_result and len(message.text) < len(item.message.text) // 2 else "truncated"


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The value of a coroutine that waits for nothing.

    Raises:
        HarnessError: It waits for something: a network, a file, a clock.
    """
    try:
        work.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    finally:
        work.close()
    raise HarnessError(
        "The compactor waits for something outside, which a policy may not.", "Use one that asks its model and no more."
    )


def keeping(name: str, value: int) -> int:
    """A checked number of messages to keep.

    Raises:
        ConfigError: It is no whole number of 1 or more.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name}={value!r} is not valid.", "Give a whole number of 1 or more.", subject=name)
    return value
