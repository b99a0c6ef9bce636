"""What a demonstration says at its end, as cards: the same for the terminal and for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness_nb.lab.account import Account, Compaction
from harness_nb.lab.assembly import ReadReport
from harness_nb.render.card import Card, Table
from harness_nb.render.text import count, short


def session_card(account: Account, *, model: str) -> Card:
    """What happened in a live session."""
    rows = [
        ("turns", account.turns),
        ("compactions", len(account.compactions)),
        ("facts written", len(account.facts)),
        (f"hits of a search for {account.query!r}", account.hits),
    ]
    return Card(
        f"A session on the model {model!r}",
        f"window {short(account.window)} tokens, {short(account.final_tokens)} in use at the end",
        (
            Table.of(("", "number"), rows),
            _compactions(account.compactions, of_session=True),
            _all(("fact",), [(fact,) for fact in account.facts], noun="fact", caption="Facts written to the daily log"),
        ),
    )


def replay_card(account: Account, *, title: str) -> Card:
    """What a policy did to a recorded conversation."""
    source = f" ({account.window_source})" if account.window_source else ""
    line = (
        f"{count(account.turns, 'turn')} · window {account.window:,} tokens{source} · "
        f"{count(len(account.compactions), 'compaction')} · {count(account.model_calls, 'model call')} for them"
    )
    rows = [
        ("largest model input, in tokens", account.peak_tokens),
        ("model input at the end, in tokens", account.final_tokens),
        ("requests above the window", account.overflows),
        ("plans that failed or were refused", len(account.failures)),
    ]
    why = [(text, times) for text, times in Counter(account.failures).items()]
    failures = (_all(("why", "times"), why, noun="reason", caption="Failed or refused"),) if why else ()
    return Card(title, line, (Table.of(("", "number"), rows), _compactions(account.compactions), *failures))


def reading_card(report: ReadReport, *, with_notes: bool) -> Card:
    """What was read from a file.

    Args:
        report: Of the reader.
        with_notes: Whether each remark is shown, with its line number.
    """
    rows = [
        ("messages read", report.read),
        ("dropped", report.dropped),
        ("repaired: calls that never got a result", report.repaired),
        ("remarks, each with its line in the report", len(report.notes)),
    ]
    notes = [tuple(note.partition(": ")[::2]) for note in report.notes] if with_notes else []
    remarks = (_all(("where", "what"), notes, noun="remark", caption="Dropped, skipped and repaired"),) if notes else ()
    return Card(
        f"A conversation in the format {report.format}",
        f"recorded with {report.model or 'a model that the file does not name'}",
        (Table.of(("", "number"), rows), *remarks),
    )


_COLUMNS = (
    "turn",
    "tokens before",
    "tokens after",
    "kept",
    "shortened",
    "in a summary or note",
    "gone",
    "model calls",
    "why",
)


def _compactions(compactions: tuple[Compaction, ...], *, of_session: bool = False) -> Table:
    rows = [
        (
            one.turn,
            one.tokens_before,
            one.tokens_after,
            one.kept,
            one.shortened,
            one.summarised,
            one.gone,
            one.model_calls,
            one.reason,
        )
        for one in compactions
    ]
    left_out = {_COLUMNS.index("shortened")} if of_session else set()  # a session's events don't tell them apart
    head = tuple(name for at, name in enumerate(_COLUMNS) if at not in left_out)
    cells = [tuple(value for at, value in enumerate(row) if at not in left_out) for row in rows]
    return _all(head, cells, noun="compaction", caption="Compactions" if rows else "No compaction")


def _all(head: tuple[str, ...], rows: Sequence[tuple[object, ...]], *, noun: str, caption: str) -> Table:
    """A table that leaves no row out."""
    return Table.of(head, rows, most=len(rows), noun=noun, caption=caption)
