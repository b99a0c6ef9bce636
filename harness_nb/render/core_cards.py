"""Cards of the core's records: what loading the extension adds to their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.core.events import Event
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Fate, Plan, Pressure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.render.card import Card, Pre, Table
from harness_nb.render.event_words import usage_words, words
from harness_nb.render.pressure import PressureModel, bare_model, pressure_model
from harness_nb.render.pressure_view import pressure_card
from harness_nb.render.text import count, moment, one_line, percent, short

MAX_NEWEST = 20


def shown_text(message: Message) -> str:
    """What a message says, its calls included, on one line."""
    calls = [f"→ {call.name}({one_line(call.arguments, 60)})" for call in message.calls]
    others = [f"[{type(part).__name__.lower()}]" for part in message.parts if type(part).__name__ != "Text"]
    return one_line(" ".join(filter(None, (message.text, *others, *calls))), 160)


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


def span(indices: tuple[int, ...]) -> str:
    """Indices as ranges: `0-5, 8`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")


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
    """A plan by itself; with its view it says more (see `planned_card`)."""
    at = plan.pressure
    said = [plan.outcome, plan.reason, f"{short(at.tokens)} of {short(at.window)} tokens" if at else ""]
    if plan.input is None:
        return Card("Plan", " · ".join(filter(None, said)))
    inner = input_card(ModelInput(plan.input))
    return Card("Plan", " · ".join(filter(None, (*said, f"{inner.line} next"))), inner.blocks)


def planned_card(view: View, plan: Plan, policy: str = "") -> Card:
    """What a plan does to a conversation, message by message, with the reason."""
    title = f"What {policy} would do now" if policy else "What would be done now"
    if plan.input is None:
        return Card(title, f"{plan.outcome}: {plan.reason}. Nothing has been changed.")
    after = view.tokens_of(plan.input)
    saved = percent(1 - after / view.tokens, 0) if view.tokens else "0 %"
    sizes = f"{short(view.tokens)} → {short(after)} tokens (−{saved})"
    line = f"{plan.outcome}: {plan.reason}. {sizes}. Nothing has been changed."
    fates = plan.fates(view)
    return Card(title, line, (_fate_sums(view, fates), _changed(view, fates), *_made(plan)))


def _fate_sums(view: View, fates: tuple[Fate, ...]) -> Table:
    """How many messages and tokens have which fate."""
    groups: dict[str, list[int]] = {}
    for fate in fates:
        groups.setdefault(f"{fate.fate} ({fate.how})" if fate.how else fate.fate, []).append(fate.index)
    rows = [
        (name, len(indices), sum(view.measure(view.log[index]) for index in indices), span(tuple(indices)))
        for name, indices in groups.items()
    ]
    return Table.of(("fate", "messages", "tokens", "which"), rows, noun="fate")


def _changed(view: View, fates: tuple[Fate, ...]) -> Table:
    """Each message that does not stay as it is."""
    rows = []
    for fate in fates:
        message = view.log[fate.index]
        if fate.fate != "kept":
            rows.append((fate.index, message.role, fate.fate, fate.how, view.measure(message), shown_text(message)))
    head = ("message", "role", "fate", "how", "tokens", "text")
    return Table.of(head, rows, noun="message", caption="Each that is not kept", is_open=False)


def _made(plan: Plan) -> tuple[Pre, ...]:
    """What the harness would put in, as text."""
    items = [item for item in plan.input or () if item.index is None]
    return tuple(
        Pre(
            item.message.text,
            caption=f"{item.how}{' (assumed: no model was asked)' if item.assumed else ''}",
            is_open=False,
        )
        for item in items[:3]
    )


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
