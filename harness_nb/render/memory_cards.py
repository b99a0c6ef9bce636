"""Cards of what the durable memory answers with: consolidations, reviews, versions, maintenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.text import count


def consolidation_card(report: Any) -> Card:
    """What a consolidation made of MEMORY.md."""
    notes = [f"Not in MEMORY.md: {fact}" for fact in report.missing]
    notes += [f"Taken out to keep the cap: {entry}" for entry in report.trimmed]
    if report.candidate:
        notes.append(
            f"Decide with accept({report.candidate}), reject({report.candidate}) or edit({report.candidate}, …)."
        )
    return Card("Consolidation", report.summary, _changes(report.changes), (*notes, *report.warnings))


def decision_card(decision: Any) -> Card:
    """What was decided on a candidate."""
    notes = (decision.warning,) if decision.warning else ()
    return Card("Review", decision.summary, _changes(decision.changes), notes)


def pending_card(waiting: Any) -> Card:
    """What is not in MEMORY.md yet."""
    blocks: list[Table] = []
    if waiting.entries:
        rows = [
            (entry.date, entry.time.strftime("%H:%M") if entry.time else "", entry.text, entry.session or entry.source)
            for entry in waiting.entries
        ]
        blocks.append(Table.of(("day", "time", "fact", "from"), rows, noun="entry", caption="to merge"))
    for candidate in waiting.candidates:
        blocks += _changes(candidate.changes, caption=f"candidate {candidate.number}: {candidate.reason}")
    notes = [f"{count(waiting.failures, 'attempt')} failed since the last success."] if waiting.failures else []
    return Card("Pending", waiting.summary, tuple(blocks), (*notes, *waiting.warnings))


def _changes(changes: Iterable[Any], caption: str = "") -> tuple[Table, ...]:
    rows = [(one.number, one.kind, one.heading, one.before, one.after, ", ".join(one.sources)) for one in changes]
    head = ("", "change", "heading", "before", "after", "from")
    return (Table.of(head, rows, noun="change", caption=caption, code=frozenset({"from"})),) if rows else ()


def versions_card(versions: Any) -> Card:
    """Versions of MEMORY.md, newest first."""
    if not len(versions):
        return Card("Versions of MEMORY.md", "none yet: it was not replaced")
    rows = [(one.number, one.time, one.entries, one.tokens) for one in reversed(versions)]
    table = Table.of(("number", "replaced (UTC)", "entries", "tokens"), rows, noun="version")
    return Card(
        "Versions of MEMORY.md", count(len(rows), "version"), (table,), ("Bring one back with restore(number).",)
    )


def run_card(report: Any) -> Card:
    """What came of a maintenance run."""
    rows = [(step.name, step.outcome, step.words) for step in report.steps]
    failed = [step.name for step in report.steps if step.outcome == "failed"]
    line = f"{', '.join(failed)} failed; the other steps ran" if failed else "every step ran"
    return Card("Maintenance", line, (Table.of(("step", "outcome", "what came of it"), rows),))


def runs_card(runs: Any) -> Card:
    """Past maintenance runs, newest first."""
    rows = [
        (report.time, report.due, ", ".join(f"{step.name}: {step.outcome}" for step in report.steps))
        for report in reversed(runs)
    ]
    table = Table.of(("time", "due", "steps"), rows, noun="run")
    return Card("Maintenance", count(len(rows), "run") if rows else "nothing has run yet", (table,) if rows else ())


def maintenance_status_card(status: Any) -> Card:
    """How the maintenance stands."""
    rows = [(record["name"], record["value"]) for record in status.records]
    return Card("Maintenance", "running now" if status.is_running else "", (Table.of(("", "state"), rows),))


CARDS: Mapping[str, Callable[[Any], Card]] = {
    "ConsolidationReport": consolidation_card,
    "Decision": decision_card,
    "MaintenanceReport": run_card,
    "MaintenanceRuns": runs_card,
    "MaintenanceStatus": maintenance_status_card,
    "PendingList": pending_card,
    "VersionList": versions_card,
}
