"""The card of planted canaries: a row for each policy and budget, and for each kind its survival round by round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness_nb.render.card import Card, Table
from harness_nb.render.lanes import bars
from harness_nb.render.text import count, percent, short


def canary_card(report: Any) -> Card:
    """Survival by kind, with the round in which it falls off."""
    first = report.trials[0]
    planted = sum(canary.kind in report.kinds for canary in first.canaries) * len(report.seeds)
    line = (
        f"{count(planted, 'item')} of {count(len(report.kinds), 'kind')} planted in {report.transcript or 'a transcript'}, "
        f"{count(report.rounds, 'round')} of compaction; bars: part alive after each round, then the part after the last"
    )
    head = ("policy", "budget", "held by", *report.kinds, "old value shown", "pairs merged")
    rows = [_row(report, policy, share) for policy in report.policies for share in report.shares]
    tables = (Table.of(head, rows, most=len(rows), noun="policy at a budget"),)
    return Card("Canaries", line, tables, tuple(_notes(report)))


def _row(report: Any, policy: str, share: float) -> tuple[object, ...]:
    trials = report.of(policy, share)
    largest = max(trial.held.largest for trial in trials)
    budget = f"{percent(share)} = {short(trials[0].budget_tokens)}"
    settings = ", ".join(dict.fromkeys(trial.held.setting for trial in trials))
    how = settings if all(trial.held.is_held for trial in trials) else f"not held: {short(largest)} with {settings}"
    cells = [_survival(report, policy, share, kind) for kind in report.kinds]
    return (policy, budget, how, *cells, *_wrong(report, policy, share))


def _survival(report: Any, policy: str, share: float, kind: str) -> str:
    found = [one.survival for one in report.outcomes(policy, share, kind)]
    falls = report.cliff_round(policy, share, kind)
    return f"{bars(found)} {percent(found[-1], 0)}" + (f", r{falls}" if falls is not None else "")


def _wrong(report: Any, policy: str, share: float) -> tuple[str, str]:
    """Replaced values still shown, and pairs of which only one is left, in the worst round."""
    updates = report.outcomes(policy, share, "updated value") if "updated value" in report.kinds else ()
    pairs = report.outcomes(policy, share, "near-duplicate pair") if "near-duplicate pair" in report.kinds else ()
    stale, misled = _most(one.stale for one in updates), _most(one.misled for one in updates)
    merged = _most(one.merged for one in pairs)
    alone = f", {misled} alone" if misled else ""
    return (
        f"{stale} of {updates[0].planted}{alone}" if updates else "",
        f"{merged} of {pairs[0].planted}" if pairs else "",
    )


def _most(values: Iterable[int]) -> int:
    return max(values, default=0)


def _notes(report: Any) -> Iterable[str]:
    yield (
        "r3: round 3 is the first after which less than half is left. Old value: replaced earlier and still shown, alone "
        "where its replacement is gone. Merged: one of two that look alike is left. Both in the worst round."
    )
    if report.model == "assumed":
        yield "Replies are assumed, so no summary holds anything: these figures are the floor of each policy."
    seeds = ", ".join(map(str, report.seeds))
    yield (
        f"A budget is a part of the list at the first round, system prompt left out. Tokens counted by {report.counter}; "
        f"replies by {report.model}; seeds {seeds}; data {report.data_hash[:12]}. More: .df"
    )
