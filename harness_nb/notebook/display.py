"""HTML of the core's records, which by themselves show as text. Put in and taken out by name, so that nothing is imported."""

from __future__ import annotations

from typing import Any

from harness_nb.render.results import bundle

RECORDS = {
    "harness_nb.core.item": ("Item", "ModelInput"),
    "harness_nb.core.messages": ("Message", "Usage"),
    "harness_nb.core.plan": ("Plan", "Pressure"),
    "harness_nb.core.transcript": ("Transcript",),
    "harness_nb.core.view": ("View",),
    "harness_nb.frames.excerpt": ("Excerpt",),
    "harness_nb.core.events": (
        "TurnStarted", "StepFinished", "CallStarted", "CallFinished", "CompactionStarted", "CompactionFinished",
        "FactsWritten", "FlushFailed", "ResultEvicted", "Warned", "Interrupted", "TurnFailed", "TurnFinished",
    ),
}  # fmt: skip
"""Classes by module."""


def as_html(record: object) -> str | None:
    """HTML of a record, or None to leave it to its text."""
    return bundle(record).get("text/html")


def add_forms(shell: Any) -> None:
    """Gives the records their HTML form."""
    formatter = shell.display_formatter.formatters["text/html"]
    for module, names in RECORDS.items():
        for name in names:
            formatter.for_type_by_name(module, name, as_html)


def remove_forms(shell: Any) -> None:
    """Takes the HTML forms away."""
    formatter = shell.display_formatter.formatters["text/html"]
    for module, names in RECORDS.items():
        for name in names:
            formatter.pop(f"{module}.{name}", None)
