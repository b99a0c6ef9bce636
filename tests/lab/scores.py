"""Reports of scores that are made up, figure by figure."""

from __future__ import annotations

from typing import Any

from harness_nb.lab.score import Score, ScoreReport

METRICS = (
    {"name": "tokens_sent", "unit": "tokens", "better": "lower", "meaning": "load"},
    {"name": "future_use", "unit": "0 to 1", "better": "higher", "meaning": "survival"},
    {"name": "compactions", "unit": "points", "better": None, "meaning": "swaps"},
)


def made_score(values: dict[str, float | None] | None = None, **given: Any) -> Score:
    """A score with plain defaults; a fixed figure for each metric that is not given."""
    fields = {
        "transcript": "talk",
        "data": "d0",
        "policy": "harness",
        "settings": {},
        "window": 8_000,
        "counter": "characters / 4",
        "answered_by": "assumed",
        "guarded": True,
        "seed": 0,
    }
    return Score(
        **fields | given, values={"tokens_sent": 1_000.0, "future_use": 0.8, "compactions": 3.0} | (values or {})
    )


def made_report(*scores: Score, version: str = "1") -> ScoreReport:
    """A report of some scores, or of one."""
    return ScoreReport(scores=scores or (made_score(),), metrics=METRICS, version=version)
