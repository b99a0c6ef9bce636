"""A list of a host's own in the place of what the model sees: checked, logged, and stored like that of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb.agent.conversation import Surroundings
from harness_nb.agent.driver import Pass
from harness_nb.agent.hooks import Emit
from harness_nb.agent.session import Session
from harness_nb.agent.steering import finished_event
from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message
from harness_nb.core.replacement import refuse_invalid
from harness_nb.core.view import View
from harness_nb.errors import StoreError

POLICY = "host"
"""Stands in events where the name of a policy would."""


def replace_input(
    session: Session, around: Surroundings, messages: Iterable[Message | Mapping[str, Any]], emit: Emit
) -> None:
    """Lets the model see these messages, and nothing else of what was said so far; the log and the pins stay.

    Args:
        session: An idle session.
        around: What is sent beside the messages.
        messages: The new list. A message that was said, or is shown now, keeps its place in the log; any other is a summary.
        emit: Called with the event.

    Raises:
        MessageError: A provider would refuse the list; nothing has changed.
        StoreError: The log can't be written; nothing has changed.
    """
    given = [one if isinstance(one, Message) else Message.from_openai(one) for one in messages]
    refuse_invalid(given)
    session.save()
    talk = session.conversation
    view = talk.view("manual", around)
    plan = view.becomes(_items(view, given), "the host gave a list of its own", outcome="replaced")
    talk.commit(view, plan)
    talk.set_pins(talk.pins)
    talk.stall = None
    done = replace(plan, input=talk.input[:])
    one = Pass(
        view=view,
        plan=done,
        outcome="completed",
        reason=plan.reason,
        tokens_before=view.tokens,
        tokens_after=view.tokens_of(done.items(view)),
    )
    session.passes.append(one)
    event = finished_event(one, "manual", POLICY, session, 0.0)
    session.record(event)
    try:
        session.save_list()
    except StoreError as error:
        emit(session.warned("store", f"The new list is not stored; the session goes on. {error.problem}"))
    emit(event)


def _items(view: View, messages: Sequence[Message]) -> tuple[Item, ...]:
    """The messages as items; the first that the host wrote stands for all that is no longer shown."""
    found = _recognised(view, messages)
    gone = set(covered(view.input)) - set(covered(filter(None, found)))
    items: list[Item] = []
    for item, message in zip(found, messages, strict=True):
        if item is None:
            made = replace(message, origin="harness") if message.role == "user" else message
            item = Item(None, made, "summary", stands_for=tuple(sorted(gone)))
            gone.clear()
        items.append(item)
    return tuple(items)


def _recognised(view: View, messages: Sequence[Message]) -> list[Item | None]:
    """For each message what it is of the list or the log, the latest first and in order; None for what is new."""
    known: dict[tuple[object, ...], list[Item]] = {}
    for item in (*(Item(index, one) for index, one in enumerate(view.log)), *view.input):
        known.setdefault(_key(item.message), []).append(item)
    end, found = len(view.log), list[Item | None]()
    for message in reversed(messages):
        same = known.get(_key(message), [])
        at = next((at for at in range(len(same) - 1, -1, -1) if _place(same[at]) < end), None)
        item = None if at is None else same.pop(at)
        if item is not None and item.index is not None:
            end = item.index
        found.append(item)
    return found[::-1]


def _place(item: Item) -> int:
    return -1 if item.index is None else item.index


def _key(message: Message) -> tuple[object, ...]:
    """What makes two messages the same: what is sent of them, whenever and at whatever cost it was said."""
    return message.role, message.content, message.calls, message.call_id
