"""Reports of consolidation and maintenance as events, for displays, frames and the session log."""

from __future__ import annotations

from datetime import datetime

from harness_nb.core.events import ConsolidationFinished, MaintenanceFinished
from harness_nb.memory.consolidation_report import ConsolidationReport
from harness_nb.memory.maintenance_report import MaintenanceReport


def consolidation_event(report: ConsolidationReport, now: datetime) -> ConsolidationFinished:
    """What came of a consolidation."""
    kinds = [change.kind for change in report.changes]
    return ConsolidationFinished(
        time=now,
        outcome=report.outcome,
        reason=report.reason,
        entries=report.entries,
        added=kinds.count("added"),
        changed=kinds.count("changed") + kinds.count("moved"),
        removed=kinds.count("removed"),
        missing=report.missing,
        candidate=report.candidate or 0,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        pending=report.pending,
        model_calls=report.model_calls,
    )


def maintenance_event(report: MaintenanceReport) -> MaintenanceFinished:
    """What came of a run of the maintenance."""
    return MaintenanceFinished(
        time=report.time,
        due=report.due,
        steps=tuple(map(str, report.steps)),
        failed=tuple(step.name for step in report.steps if step.outcome == "failed"),
    )
