"""Cards of what the lab measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.text import count, money, short


def score_card(report: Any) -> Card:
    """Figures as rows, replays as columns; where there are many replays, one a row."""
    metrics, scores = report.metrics, report.scores
    line = f"{count(len(scores), 'replay')}, {count(len(metrics), 'metric')} · harness_nb {report.version}"
    marks = {"lower": "lower is better", "higher": "higher is better"}
    if len(scores) <= _MOST_COLUMNS:
        head = ("", *(f"{one.policy} at {short(one.window)}" for one in scores), "unit", "")
        rows = [
            (
                one["name"].replace("_", " "),
                *(_figure(score.values.get(one["name"])) for score in scores),
                one["unit"],
                marks.get(one["better"], ""),
            )
            for one in metrics
        ]
        table = Table.of(head, rows, most=len(rows), noun="metric")
    else:
        head = ("transcript", "policy", "window", *(one["name"] for one in metrics))
        rows = [
            (one.transcript, one.policy, one.window, *(_figure(one.values.get(each["name"])) for each in metrics))
            for one in scores
        ]
        table = Table.of(head, rows, noun="replay")
    counters = ", ".join(sorted({one.counter for one in scores}))
    return Card("Scores", line, (table,), (f"Tokens counted by {counters}.", *_terms(report.terms)))


_MOST_COLUMNS = 4
_MILLION = 1_000_000


def _terms(terms: Mapping[str, Any]) -> list[str]:
    """Prices and cache rules in words."""
    kinds = ("input", "cached", "write", "output")
    said = []
    for model, prices in terms.get("prices", {}).items():
        figures = ", ".join(f"{kind} {prices[kind] * _MILLION:g}" for kind in kinds)
        said.append(f"US dollars a million tokens of {model}: {figures}.")
    rules = terms.get("cache_rules", {}).items()
    return said + [f"Cache of {model or 'an unknown model'} by the rules {rule['name']!r}." for model, rule in rules]


def _figure(value: float | None) -> float | int | None:
    """A figure with the digits that say something."""
    if value is None:
        return None
    return round(value) if abs(value) >= 100 or float(value).is_integer() else round(value, 4)


def cache_card(use: Any) -> Card:
    """The requests that read least of what the request before sent."""
    broken = [one for one in use.records if one["reason"]]
    rows = [(one["message"], one["tokens"], one["read"], one["reason"]) for one in broken]
    table = Table.of(("message", "tokens", "read", "why not more"), rows, most=_ROWS, noun="request")
    return Card("Prompt cache", str(use), (table,))


def cache_check_card(check: Any) -> Card:
    """The calls at which prediction and bill differ most."""
    rows = [
        (one["message"], one["tokens"], one["predicted"], one["billed"], round(one["points"], 2), one["reason"])
        for one in check.records
        if one["reason"]
    ]
    head = ("message", "tokens", "predicted", "billed", "points", "why they differ")
    return Card("Prompt cache, predicted and billed", str(check), (Table.of(head, rows, most=_ROWS, noun="call"),))


def cost_card(cost: Any) -> Card:
    """Every compaction, and when it has paid off."""
    rows = [
        (one["message"], one["tokens_before"], one["tokens_after"], money(one["own_cost"]), _figure(one["calls"]))
        for one in cost.records
    ]
    head = ("message", "tokens before", "tokens after", "own calls", "paid off after calls")
    return Card("Cost", str(cost), (Table.of(head, rows, most=_ROWS, noun="compaction"),))


def future_use_card(use: Any) -> Card:
    """The requests that missed most."""
    missed = sorted((one for one in use.uses if one.missing), key=lambda one: -len(one.missing))
    rows = [(one.message, one.needed, len(one.missing), ", ".join(one.missing)) for one in missed]
    head = ("message", "needed", "missing", "what was missing")
    return Card("Future use", str(use), (Table.of(head, rows, most=_ROWS, noun="request"),))


def validity_card(validity: Any) -> Card:
    """What is wrong, check by check."""
    table = Table.of(("check", "message", "what is wrong"), validity.breaks, most=_ROWS, noun="break")
    return Card("Validity", str(validity), (table,) if validity.breaks else ())


_ROWS = 12

CARDS: Mapping[str, Callable[[Any], Card]] = {
    "CacheCheck": cache_check_card,
    "CacheUse": cache_card,
    "Cost": cost_card,
    "FutureUse": future_use_card,
    "ScoreReport": score_card,
    "Validity": validity_card,
}
