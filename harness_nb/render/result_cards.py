"""Cards of what the layers above the core answer with, known by the names of their classes and attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.render.card import Card, Pre, Rich, Table
from harness_nb.render.html import escape, join, tag
from harness_nb.render.text import clip, count

_MARKED = re.compile(r"\[([^\[\]]+)\]")


def hits_card(hits: Any) -> Card:
    """Search hits, best first."""
    found = count(len(hits), "hit") + (f" with {hits.stage}" if hits.stage else "")
    title = f"Search: {clip(hits.query, 200)}"
    if not len(hits):
        return Card(title, "nothing found", notes=("Other words may find it; the search knows no synonyms.",))
    rows = [
        (at, marked_snippet(hit.snippet), f"{hit.path}:{hit.line}", hit.kind, hit.date, hit.rank)
        for at, hit in enumerate(hits, 1)
    ]
    head = ("", "found", "where", "kind", "date", "rank (lower is better)")
    return Card(title, f"{found}, best first", (Table.of(head, rows, noun="hit", code=frozenset({"where"})),))


def marked_snippet(snippet: str) -> Rich:
    """An excerpt with its finds, which stand in `[` and `]`, marked."""
    pieces, last = [], 0
    for found in _MARKED.finditer(snippet):
        pieces += [escape(snippet[last : found.start()]), tag("mark", found[0])]
        last = found.end()
    return Rich(snippet, join(*pieces, escape(snippet[last:])))


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
    span = f"messages {entry.messages[0]}-{entry.messages[-1]}" if entry.messages else ""
    return " · ".join(filter(None, (entry.session, span, entry.source)))


def status_card(status: Any) -> Card:
    """A status: name and value line by line."""
    title = {"MemoryStatus": "Memory", "AgentStatus": "Agent"}.get(type(status).__name__, type(status).__name__)
    rows = [(record["name"], record["value"]) for record in status.records]
    return Card(title, "", (Table.of(("", "state"), rows),))


CARDS: Mapping[str, Callable[[Any], Card]] = {
    "AgentStatus": status_card,
    "DailyLogView": log_card,
    "MemoryStatus": status_card,
    "MemoryText": memory_text_card,
    "SearchHits": hits_card,
}
