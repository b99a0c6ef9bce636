"""The cards of a leaderboard: one table for each source and window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.text import count, percent, short

_HEAD = (
    "rank",
    "preset",
    "survival",
    "95 % interval",
    "tokens",
    "peak",
    "compactions",
    "model calls",
    "cache reuse",
    "",
)
_NOTES = (
    "Survival is an upper bound of what a model recalls: what is absent is lost, what is present need not be used.",
    "A rank counts those that keep no less for no more tokens, and are better in one of both. Not ranked: who refused the "
    "window, never acted, or sent a prompt that is invalid or above the window.",
)


def board_card(rows: Sequence[Any], terms: Mapping[str, Any]) -> Card:
    """A leaderboard in short: of each source and window those that nobody beats.

    Args:
        rows: Rows as `lab.leaderboard.Standing` has them, in order.
        terms: What the figures rest on.
    """
    panels = _panels(rows)
    blocks = tuple(_table(panel, [one for one in panel if one.rank == 1]) for panel in panels)
    line = f"{count(len(panels), 'table')}, {count(len({one.label for one in rows}), 'entrant')} · whom nobody beats"
    return Card("Leaderboard", line, blocks, (*_NOTES, "All rows: .df, a picture: .chart."))


def panel_cards(rows: Sequence[Any]) -> list[Card]:
    """All rows of a leaderboard, a card for each source and window."""
    return [Card(_title(panel[0]), _said(panel), (_table(panel, panel, caption=False),)) for panel in _panels(rows)]


def source_card(terms: Mapping[str, Any], version: str, counters: Sequence[str]) -> Card:
    """What a leaderboard was made on and with.

    Args:
        terms: For each source under `data`: licence, number of conversations, and the hash of each file.
        version: Of this package.
        counters: How tokens were counted.
    """
    data = terms.get("data", {})
    rows = [(name, one["conversations"], one["licence"]) for name, one in data.items()]
    files = [(name, file, digest) for name, one in data.items() for file, digest in one["files"].items()]
    blocks = (
        Table.of(("source", "conversations", "licence"), rows),
        Table.of(("source", "file", "SHA-256"), files, most=len(files), noun="file", caption="Files", is_open=False),
    )
    counted = f"Tokens counted by {', '.join(counters)}."
    return Card("Made on", f"harness_nb {version}", blocks, (counted, *_NOTES))


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    found: dict[tuple[str, int | None], list[Any]] = {}
    for row in rows:
        found.setdefault((row.source, row.window), []).append(row)
    return list(found.values())


def _title(row: Any) -> str:
    return f"{row.source}, window {'as recorded' if row.window is None else short(row.window)}"


def _said(panel: Sequence[Any]) -> str:
    first = next((one for one in panel if one.answered_by), panel[0])
    ranked = sum(one.rank is not None for one in panel)
    said = (
        count(first.conversations, "conversation"),
        f"{ranked} of {len(panel)} ranked",
        f"survival: {first.measure.replace('_', ' ')}" if first.measure else "",
        f"replies: {first.answered_by}" if first.answered_by else "",
    )
    return " · ".join(filter(None, said))


def _table(panel: Sequence[Any], shown: Sequence[Any], *, caption: bool = True) -> Table:
    title = f"{_title(panel[0])} · {_said(panel)}" if caption else ""
    return Table.of(_HEAD, [_row(one) for one in shown], most=len(shown), noun="entrant", caption=title)


def _row(one: Any) -> tuple[object, ...]:
    if one.status == "refused":
        return ("–", one.label, "", "", "", "", "", "", "", f"refused: {one.note}")
    return (
        "–" if one.rank is None else str(one.rank),
        one.label,
        "" if one.survival is None else percent(one.survival),
        "" if one.low is None else f"{percent(one.low)} to {percent(one.high)}",
        short(one.tokens),
        short(one.peak_tokens),
        one.compactions,
        one.model_calls,
        "" if one.cache_reuse is None else percent(one.cache_reuse),
        one.note if one.status == "ranked" else ": ".join(filter(None, (one.status, one.note))),
    )
