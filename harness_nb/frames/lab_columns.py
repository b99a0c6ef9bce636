"""The schema of the frames of the lab's reports, as `columns.py` has those of all others."""

from __future__ import annotations

from harness_nb.frames.columns import Column

VERDICT = ("worse", "missing", "changed", "new", "better", "same")
BETTER = ("lower", "higher")

DIFF = (
    Column("transcript", "text", "name of what was replayed"),
    Column("policy", "text", "name of the policy"),
    Column("window", "count", "context window", "tokens"),
    Column("metric", "text", "name of the figure; empty where a whole replay is in one report only"),
    Column("unit", "text", "unit of the figure"),
    Column("better", "category", "which direction is better, missing where neither is", values=BETTER),
    Column("old", "number", "the figure in the old report"),
    Column("new", "number", "the figure in the new report"),
    Column("change", "number", "new less old"),
    Column("share", "number", "the change as a share of the old figure", "0 to 1"),
    Column("verdict", "category", "whether that is worse", values=VERDICT),
)
