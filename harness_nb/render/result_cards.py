"""Cards of what the layers above the core answer with, known by the names of their classes and attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.render.card import Card, Pre, Rich, Table
from harness_nb.render.cutoff_view import planned_card
from harness_nb.render.event_words import compaction_words, message_span, words
from harness_nb.render.html import join, tag
from harness_nb.render.text import clip, count, money, percent

_MARKED = re.compile(r"\[([^\[\]]+)\]")


def hits_card(hits: Any) -> Card:
    """Search hits, best first."""
    found = count(len(hits), "hit") + (f", the best with {hits.stage}" if hits.stage else "")
    title = f"Search: {clip(hits.query, 200)}"
    bound = () if hits.ranked is None else (f"Of so many lines only the newest {hits.ranked:,} were ranked.",)
    if not len(hits):
        return Card(title, "nothing found", notes=("Other words may find it; the search knows no synonyms.", *bound))
    rows = [
        (
            at,
            marked_snippet(hit.snippet),
            f"{hit.path}:{hit.line}",
            hit.kind,
            hit.date,
            hit.stage,
            hit.rank,
            *_places(hit),
        )
        for at, hit in enumerate(hits, 1)
    ]
    head: tuple[str, ...] = ("", "found", "where", "kind", "date", "has", "rank")
    head += ("by words", "by meaning") if len(rows[0]) > len(head) else ()
    table = Table.of(head, rows, noun="hit", code=frozenset({"where"}))
    return Card(title, f"{found}, best first; of ranks the lower is the better", (table,), bound)


def _places(hit: Any) -> tuple[int | None, ...]:
    """The places of a hit by words and by meaning, nothing when there was no search by meaning."""
    is_hybrid = hit.keyword_rank is not None or hit.vector_rank is not None
    return (hit.keyword_rank, hit.vector_rank) if is_hybrid else ()


def marked_snippet(snippet: str) -> Rich:
    """An excerpt with its finds, which stand in `[` and `]`, marked."""
    pieces: list[str] = []
    last = 0
    for found in _MARKED.finditer(snippet):
        pieces += [snippet[last : found.start()], tag("mark", found[0])]
        last = found.end()
    return Rich(snippet, join(*pieces, snippet[last:]))


def memory_text_card(memory: Any) -> Card:
    """Curated memory, as it is in the file."""
    if not memory.text.strip():
        return Card(memory.path, "empty: nothing has been consolidated yet")
    lines = memory.text.count("\n") + (not memory.text.endswith("\n"))
    return Card(memory.path, f"{count(lines, 'line')}, {count(len(memory.text), 'character')}", (Pre(memory.text),))


def log_card(log: Any) -> Card:
    """Entries of the daily logs."""
    title = f"Daily log {log.day.isoformat()}" if log.day else "Daily logs"
    if not len(log):
        return Card(title, "nothing logged yet")
    days = len({entry.date for entry in log})
    rows = [
        (entry.date, entry.time.strftime("%H:%M") if entry.time else "", entry.text, _source(entry)) for entry in log
    ]
    said = count(len(log), "entry", "entries") + (f" on {count(days, 'day')}" if days > 1 else "")
    return Card(title, said, (Table.of(("day", "time", "fact", "from"), rows[-20:], noun="entry"),) if rows else ())


def _source(entry: Any) -> str:
    span = message_span(entry.messages) if entry.messages else ""
    return " · ".join(filter(None, (entry.session, span, entry.source)))


def memory_status_card(status: Any) -> Card:
    """How the durable memory stands."""
    rows = [(record["name"], record["value"]) for record in status.records]
    return Card("Memory", "", (Table.of(("", ""), rows),))


def agent_status_card(status: Any) -> Card:
    """How an agent stands, with every figure's source, and what the user should know."""
    key = f"found in {status.key_source}" if status.key_source else "none needed, or none found"
    rows = [
        ("model", status.model),
        ("key", key),
        ("preset", f"{status.preset}, policy {status.policy}" if status.policy else f"{status.preset}, compaction off"),
        ("window", f"{status.window:,} tokens (from: {status.window_source})"),
        ("in use", f"{status.tokens:,} tokens, {percent(status.tokens / status.window)} ({status.tokens_source})"),
        ("session", f"{status.session}: {count(status.turns, 'turn')}, {count(status.messages, 'message')}"),
        ("cost", money(status.cost)),
        *([("compaction", status.compaction)] if status.compaction else []),
        ("workspace", status.workspace),
    ]
    return Card(f"Agent {status.name}", "", (Table.of(("", ""), rows),), tuple(status.warnings))


def compaction_card(report: Any) -> Card:
    """What a compaction did, pass by pass, before and after by the same measure."""
    if not report.events:
        return Card("Compaction", "nothing to do")
    head = (
        "pass",
        "outcome",
        "tokens before",
        "tokens after",
        "messages before",
        "messages after",
        "model calls",
        "why",
    )
    rows = [
        (
            at,
            one.outcome,
            one.tokens_before,
            one.tokens_after,
            one.messages_before,
            one.messages_after,
            one.model_calls,
            one.reason,
        )
        for at, one in enumerate(report.events, 1)
    ]
    fixed = f"Both sizes hold {report.events[-1].fixed_tokens:,} tokens of system prompt, memory and schemas."
    return Card("Compaction", compaction_words(report.events[-1]), (Table.of(head, rows, noun="pass"),), (fixed,))


def excerpt_card(excerpt: Any) -> Card:
    """Lines of a file around the one that is meant."""
    return Card(excerpt.path, f"line {excerpt.line}", (Pre(str(excerpt)),))


def flush_card(report: Any) -> Card:
    """What a flush wrote."""
    rows = [(at, fact) for at, fact in enumerate(report.facts, 1)]
    notes = [words(event) for event in report.events if event.kind != "facts_written"]
    line = (
        f"{count(len(rows), 'fact')} written to the daily log" if report.events else "nothing new: all was read before"
    )
    return Card("Flush", line, (Table.of(("", "fact"), rows, noun="fact"),) if rows else (), tuple(notes))


def planned_result_card(planned: Any) -> Card:
    """What would be compacted now."""
    return planned_card(planned.view, planned.plan, planned.policy)


def sessions_card(sessions: Any) -> Card:
    """Sessions of a workspace, newest first."""
    newest = sorted(sessions.records, key=lambda one: str(one["last_activity"] or ""), reverse=True)
    rows = [
        (one["session"], one["agent"], one["last_activity"], "in use" if one["is_current"] else "") for one in newest
    ]
    head = ("session", "agent", "last written to", "")
    return Card("Sessions", count(len(rows), "session"), (Table.of(head, rows, noun="session"),) if rows else ())


def pins_card(pins: Any) -> Card:
    """What stays word for word through every compaction."""
    rows = [(at, one["text"], one["source"], one["index"], one["tokens"]) for at, one in enumerate(pins.records)]
    line = (
        f"{count(len(rows), 'pin')}, {sum(pins.tokens):,} of {pins.max_tokens:,} tokens"
        if rows
        else "nothing is pinned"
    )
    head = ("", "word for word", "pinned by", "message", "tokens")
    return Card("Pins", line, (Table.of(head, rows, noun="pin"),) if rows else ())


CARDS: Mapping[str, Callable[[Any], Card]] = {
    "AgentStatus": agent_status_card,
    "CompactionReport": compaction_card,
    "DailyLogView": log_card,
    "Excerpt": excerpt_card,
    "FlushReport": flush_card,
    "MemoryStatus": memory_status_card,
    "MemoryText": memory_text_card,
    "PinList": pins_card,
    "Planned": planned_result_card,
    "SearchHits": hits_card,
    "SessionList": sessions_card,
}
