"""Cards of the core's records: what loading the extension adds to their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.core.events import Event
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan, Pressure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.render.card import Card, Pre, Table
from harness_nb.render.cutoff_view import shown_text, span
from harness_nb.render.event_words import usage_words, words
from harness_nb.render.pressure import PressureModel, bare_model, pressure_model
from harness_nb.render.pressure_view import pressure_card
from harness_nb.render.text import count, moment, short

MAX_NEWEST = 20


def message_card(message: Message) -> Card:
    """One message, whole and exactly as sent."""
    said = [message.role, *([f"made by {message.origin}"] if message.origin == "harness" else [])]
    said += filter(None, (message.name, message.status, moment(message.time)))
    blocks = [Pre(message.text)] if message.text else []
    blocks += [Pre(call.arguments, caption=f"call {call.id}: {call.name}") for call in message.calls]
    return Card("Message", " · ".join(said), tuple(blocks))


def transcript_card(transcript: Transcript) -> Card:
    """A conversation: its last messages, and what its reader dropped or repaired."""
    first = max(0, len(transcript) - MAX_NEWEST)
    rows = [(at, transcript[at].role, shown_text(transcript[at])) for at in range(first, len(transcript))]
    blocks: tuple[Table | Pre, ...] = (Table.of(("message", "role", "text"), rows),)
    if transcript.report:
        blocks += (Pre("\n".join(transcript.report), caption="what its reader says", is_open=False),)
    roles = {role: sum(one.role == role for one in transcript) for role in ("user", "assistant", "tool")}
    said = ", ".join(f"{number:,} {role}" for role, number in roles.items() if number)
    shown = f"the last {len(rows)} shown" if first else ""
    title = f"Transcript {transcript.name}".strip()
    return Card(title, " · ".join(filter(None, (count(len(transcript), "message"), said, shown))), blocks)


def input_card(items: ModelInput) -> Card:
    """A model input, item by item."""
    rows = [(at, _index(item), item.message.role, item.how, shown_text(item.message)) for at, item in enumerate(items)]
    return Card("Model input", count(len(items), "item"), (Table.of(("item", "message", "role", "how", "text"), rows),))


def _index(item: Item) -> str:
    if item.index is not None:
        return str(item.index)
    return f"for {span(item.stands_for)}" if item.stands_for else ""


def item_card(item: Item) -> Card:
    """One item with its message."""
    inner = message_card(item.message)
    return Card("Item", " · ".join(filter(None, (_index(item), item.how, inner.line))), inner.blocks)


def view_card(view: View) -> Card:
    """A view: how full the window is."""
    return pressure_card(pressure_model(view))


def pressure_only_card(pressure: Pressure) -> Card:
    """Figures of a policy without the conversation."""
    return pressure_card(bare_model(pressure))


def model_card(model: PressureModel) -> Card:
    """A pressure display."""
    return pressure_card(model)


def plan_card(plan: Plan) -> Card:
    """A plan by itself; with its view it says more (see `cutoff_view.planned_card`)."""
    at = plan.pressure
    said = [plan.outcome, plan.reason, f"{short(at.tokens)} of {short(at.window)} tokens" if at else ""]
    if plan.input is None:
        return Card("Plan", " · ".join(filter(None, said)))
    inner = input_card(ModelInput(plan.input))
    return Card("Plan", " · ".join(filter(None, (*said, f"{inner.line} next"))), inner.blocks)


def event_card(event: Event) -> Card:
    """One event."""
    return Card(event.kind.replace("_", " "), words(event))


def events_card(events: tuple[Event, ...], title: str = "Events") -> Card:
    """Events in order, the newest ones shown; pieces of an answer are left out."""
    stored = [event for event in events if event.is_stored]
    rows = [
        (moment(event.time), event.turn, event.kind.replace("_", " "), words(event)) for event in stored[-MAX_NEWEST:]
    ]
    said = count(len(stored), "event") + (f", the last {len(rows)} shown" if len(stored) > len(rows) else "")
    return Card(title, said, (Table.of(("time", "turn", "event", "what happened"), rows),))


def usage_card(usage: Usage) -> Card:
    """Reported tokens and cost."""
    return Card("Usage", f"{usage_words(usage)}, as the provider reported")


CARDS: Mapping[str, Callable[[Any], Card]] = {
    "Event": event_card,
    "Item": item_card,
    "Message": message_card,
    "ModelInput": input_card,
    "Plan": plan_card,
    "Pressure": pressure_only_card,
    "PressureModel": model_card,
    "Transcript": transcript_card,
    "Usage": usage_card,
    "View": view_card,
}
