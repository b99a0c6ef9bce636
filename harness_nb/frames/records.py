"""Records of a session, taken from core objects: extraction, apart from assembly. No pandas here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness_nb.core.events import CompactionFinished, Event, FactsWritten, StepFinished
from harness_nb.core.messages import Message
from harness_nb.core.plan import Fate, Plan
from harness_nb.core.view import View


def message_records(
    log: Sequence[Message], view: View | None = None, *, events: Iterable[Event] = (), session: str = ""
) -> list[dict[str, Any]]:
    """A record a message.

    Args:
        log: All messages of the session.
        view: The conversation now; gives tokens, and what became of each message.
        events: Events of the session; say with which plan a message left.
        session: Id of the session.
    """
    fates, left_with = _fates(view), _left_with(events)
    return [
        {
            "index": index,
            "role": message.role,
            "origin": message.origin,
            "text": message.text,
            "name": message.name,
            "call_id": message.call_id,
            "calls": tuple(call.id for call in message.calls),
            "tools": tuple(call.name for call in message.calls),
            "status": (message.status or "ok") if message.role == "tool" else None,
            "time": message.time,
            "tokens": view.measure(message) if view is not None else None,
            "fate": fates[index].fate if index in fates else "gone" if fates else None,
            "how": fates[index].how or None if index in fates else None,
            "plan_number": left_with.get(index),
            "session": session,
        }
        for index, message in enumerate(log)
    ]


def _fates(view: View | None) -> dict[int, Fate]:
    """What became of each message by now; the list as it stands tells."""
    if view is None:
        return {}
    found: dict[int, Fate] = {}
    for position, item in enumerate(view.input):
        for index in item.stands_for:
            found[index] = Fate(index, "stood for", item.how, position)
        if item.index is not None:
            found[item.index] = Fate(item.index, "kept" if item.how == "kept" else "changed", item.how, position)
    return found


def _left_with(events: Iterable[Event]) -> dict[int, int]:
    """For each message that left the model input, the number of the last plan that took it out."""
    found: dict[int, int] = {}
    for event in events:
        if isinstance(event, CompactionFinished) and event.outcome == "completed":
            found |= dict.fromkeys(event.left, event.plan_number)
    return found


def event_records(events: Iterable[Event], *, words: Callable[[Event], str], session: str = "") -> list[dict[str, Any]]:
    """A record a stored event, its message range taken apart.

    Args:
        events: Events in order; pieces of an answer are left out.
        words: What an event says in one line (`render.event_words.words`).
        session: Id of the session.
    """
    made = []
    for event in events:
        if event.is_stored:
            record = event.to_record() | {"kind": event.kind, "session": session, "summary": words(event)}
            record |= _range(event)
            made.append(record)
    return made


def _range(event: Event) -> dict[str, Any]:
    if not isinstance(event, FactsWritten) or not event.messages:
        return {}
    return {"first_message": event.messages[0], "last_message": event.messages[-1]}


def plan_records(events: Iterable[Event], *, session: str = "") -> list[dict[str, Any]]:
    """A record a finished compaction."""
    return [event.to_record() | {"session": session} for event in events if isinstance(event, CompactionFinished)]


def usage_records(events: Iterable[Event], *, session: str = "") -> list[dict[str, Any]]:
    """A record an answered model request."""
    return [event.to_record() | {"session": session} for event in events if isinstance(event, StepFinished)]


def fate_records(plan: Plan, view: View) -> list[dict[str, Any]]:
    """A record a message that the list or the plan knows: what becomes of it."""
    return [
        {
            "index": fate.index,
            "role": view.log[fate.index].role,
            "origin": view.log[fate.index].origin,
            "text": view.log[fate.index].text,
            "tokens": view.measure(view.log[fate.index]),
            "fate": fate.fate,
            "how": fate.how or None,
        }
        for fate in plan.fates(view)
    ]
