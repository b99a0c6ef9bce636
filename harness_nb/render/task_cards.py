"""The card of tasks that were run under presets."""

from __future__ import annotations

from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.text import clip, count, one_line


def evaluation_card(report: Any) -> Card:
    """A row for each task, a column for each preset, and below why each failure failed."""
    presets = tuple(dict.fromkeys(one.preset for one in report.results))
    by_task: dict[str, dict[str, Any]] = {}
    for one in report.results:
        by_task.setdefault(one.task, {})[one.preset] = one
    rows = [(task, *(_mark(found.get(preset)) for preset in presets)) for task, found in by_task.items()]
    passed = sum(one.passed for one in report.results)
    sums = tuple(
        f"{sum(one.passed for one in report.results if one.preset == preset)} of {len(by_task)}" for preset in presets
    )
    models = ", ".join(dict.fromkeys(one.model for one in report.results))
    line = f"{passed} of {count(len(report.results), 'case')} passed · model {models}"
    failed = [(one.task, one.preset, one_line(clip(one.why, 400), 400)) for one in report.results if not one.passed]
    blocks = [Table.of(("task", *presets), [*rows, ("passed", *sums)], most=60, noun="task")]
    if failed:
        blocks.append(Table.of(("task", "preset", "why"), failed, noun="failure", caption="What failed"))
    return Card("Evaluation", line, tuple(blocks), ("One row a check: .checks()",))


def _mark(result: Any) -> str:
    if result is None:
        return ""
    if result.error:
        return "✗ error"
    failed = sum(not one.passed for one in result.findings)
    return f"✗ {failed} of {len(result.findings)} fail" if failed else "✓ passed"
