"""Each event as one line in words; displays, frames and logs say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from harness_nb.core import events as happened
from harness_nb.core.events import Event
from harness_nb.core.messages import Usage
from harness_nb.render.text import cell, count, money, one_line, percent, seconds, short


def words(event: Event) -> str:
    """What happened, in one line."""
    say = _WORDS.get(type(event))
    return say(event) if say else _by_fields(event)


def _by_fields(event: Event) -> str:
    """Name and fields of an event that has no words of its own."""
    said = [
        f"{one.name.replace('_', ' ')} {one_line(cell(_joined(value)), 80)}"
        for one in fields(event)
        if one.name not in ("time", "turn") and (value := getattr(event, one.name)) not in ("", None, ())
    ]
    return ": ".join(filter(None, (event.kind.replace("_", " "), ", ".join(said))))


def _joined(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def usage_words(usage: Usage | None) -> str:
    """Reported tokens and cost, in words."""
    if usage is None:
        return "no usage reported"
    cached = f" ({short(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    cost = f", {money(usage.cost)}" if usage.cost is not None else ""
    return f"{short(usage.input_tokens)} tokens in{cached}, {short(usage.output_tokens)} out{cost}"


def compaction_words(event: happened.CompactionFinished) -> str:
    """What a compaction did, before and after by the same measure."""
    if event.outcome != "completed":
        return f"compaction {event.outcome}: {event.reason}"
    saved = percent(1 - event.tokens_after / event.tokens_before, 0) if event.tokens_before else "0 %"
    said = [
        f"{event.detail or 'compacted'} by {event.policy}: {short(event.tokens_before)} → {short(event.tokens_after)} tokens "
        f"(−{saved})",
        f"{event.messages_before} → {count(event.messages_after, 'message')}",
    ]
    if event.model_calls:
        said.append(count(event.model_calls, "model call"))
    return ", ".join(said)


def message_span(messages: Sequence[int]) -> str:
    """First and last of some messages, in words."""
    first, last = messages[0], messages[-1]
    return f"message {first}" if first == last else f"messages {first}-{last}"


def _call_started(event: Any) -> str:
    return f"calls {event.name} {one_line(event.arguments, 80)}"


def _call_finished(event: Any) -> str:
    status = "" if event.status == "ok" else f", {event.status}"
    return f"{event.name}: {count(event.chars, 'character')} in {seconds(event.seconds)}{status}"


def _facts(event: Any) -> str:
    span = f", from {message_span(event.messages)}" if event.messages else ""
    return f"{count(len(event.facts), 'fact')} written to {event.path}{span}"


def _step(event: Any) -> str:
    return f"step {event.step} ({event.purpose}): {usage_words(event.usage)} in {seconds(event.seconds)}"


def _finished(event: Any) -> str:
    return f"answered in {count(event.steps, 'step')}, {usage_words(event.usage)}"


def _consolidation(event: Any) -> str:
    if event.outcome != "applied":
        return f"consolidation {event.outcome}: {event.reason}"
    changes = f"{event.added} added, {event.changed} changed, {event.removed} removed"
    sizes = f"{short(event.tokens_before)} → {short(event.tokens_after)} tokens"
    return f"{count(event.entries, 'log entry', 'log entries')} merged into MEMORY.md: {changes}, {sizes}"


_WORDS: dict[type[Event], Callable[[Any], str]] = {
    happened.TurnStarted: lambda event: f"user: {one_line(event.text)}",
    happened.TextPiece: lambda event: one_line(event.text),
    happened.ThinkingPiece: lambda event: one_line(event.text),
    happened.StepFinished: _step,
    happened.CallStarted: _call_started,
    happened.CallFinished: _call_finished,
    happened.CompactionStarted: lambda event: f"{event.policy} begins at {short(event.tokens)} tokens: {event.reason}",
    happened.CompactionFinished: compaction_words,
    happened.Pinned: lambda event: f"pinned ({event.source}): {one_line(event.text)}",
    happened.FactsWritten: _facts,
    happened.FlushFailed: lambda event: f"facts not written: {event.reason}",
    happened.ConsolidationFinished: _consolidation,
    happened.MaintenanceFinished: lambda event: f"maintenance: {'; '.join(event.steps)}",
    happened.ResultEvicted: lambda event: f"result of {count(event.chars, 'character')} moved to {event.path}",
    happened.Warned: lambda event: f"{event.about}: {event.text}",
    happened.Interrupted: lambda event: "stopped by the user",
    happened.TurnFailed: lambda event: f"failed: {one_line(event.error)}",
    happened.TurnFinished: _finished,
}
