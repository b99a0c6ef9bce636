"""The cards of policies side by side: sizes, scores, the first difference, the timeline, and what it all rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb.render.card import Card, Rich, Table
from harness_nb.render.html import tag
from harness_nb.render.lanes import LANE_HEIGHT, STYLE, Lane, lanes_drawing
from harness_nb.render.text import count, money, percent, short

_TIMELINE_ROWS = 10
KEY_METRICS = (
    *("invalid_prompts", "overflows", "failures", "compactions", "model_calls", "tokens_sent", "peak_tokens"),
    *("own_tokens", "future_use", "exact_edits", "cache_reuse", "cost"),
)
"""What a notebook shows of the scores; a report shows all."""
_ASSUMED = "Replies are assumed: no summary holds anything, so what is said of content is the floor of each policy."
_BEST = "* best of the policies that are ranked, where they differ."


def comparison_card(comparison: Any) -> Card:
    """All of it, short enough for a notebook."""
    lanes = sizes(comparison, columns=max(40, 480 // max(1, len(comparison.runs))))
    blocks = (*lanes.blocks, *scores(comparison).blocks, *difference(comparison).blocks, *timeline(comparison).blocks)
    notes = (
        *difference(comparison).notes,
        *scores(comparison).notes,
        "A report for an appendix: .write('report.html')",
    )
    return Card(
        f"Policies over {comparison.title or 'a conversation'}", summary(comparison), blocks, notes, styles=(STYLE,)
    )


def summary(comparison: Any) -> str:
    """What was compared on what, in a line."""
    first = comparison.runs[0]
    windows = ", ".join(dict.fromkeys(short(run.window) for run in comparison.runs))
    answered = "replies are assumed" if first.answered_by == "assumed" else f"replies by {first.answered_by}"
    return f"{count(len(first.transcript), 'message')}, window {windows} tokens; {answered}"


def sizes(comparison: Any, *, columns: int, height: int = LANE_HEIGHT) -> Card:
    """A lane for each policy."""
    lanes = [_lane(name, run) for name, run in zip(comparison.names, comparison.runs, strict=True)]
    length = len(comparison.runs[0].transcript)
    return Card("Sizes", blocks=(lanes_drawing(lanes, length, columns=columns, height=height),), styles=(STYLE,))


def _lane(name: str, run: Any) -> Lane:
    points = [(step.index, step.sent_tokens) for step, _ in run.contexts()]
    before = [(step.index, step.tokens_before) for step in run.compactions]
    marks = [step.index for step in run.compactions]
    return Lane(name, sorted((*points, *before)), marks, run.window)


def scores(comparison: Any, *, is_whole: bool = False) -> Card:
    """Metrics as rows, policies as columns, the best of each row marked; if whole, all metrics and what each means."""
    metrics = [one for one in comparison.scores.metrics if is_whole or one["name"] in KEY_METRICS]
    rows = [(*_score_row(one, comparison), *([one["meaning"]] if is_whole else [])) for one in metrics]
    head = ("metric", *comparison.names, "better", *(["meaning"] if is_whole else []))
    idle = [
        f"{name} is not ranked: {why}." for at, name in enumerate(comparison.names) if (why := comparison.unranked(at))
    ]
    named = zip(comparison.names, comparison.runs, strict=True)
    failed = [f"{name}: {note}" for name, run in named for note in run.failure_notes()]
    notes = (*([_ASSUMED] if comparison.runs[0].answered_by == "assumed" else []), _BEST, *idle, *failed)
    figures = frozenset(comparison.names)
    return Card("Scores", blocks=(Table.of(head, rows, most=len(rows), noun="metric", figures=figures),), notes=notes)


def _score_row(metric: Mapping[str, Any], comparison: Any) -> tuple[object, ...]:
    values = [score.values.get(metric["name"]) for score in comparison.scores.scores]
    ranked = [None if comparison.unranked(at) else value for at, value in enumerate(values)]
    best = _best(ranked, metric["better"])
    cells = [
        _marked(figure(value, metric["unit"]), value is not None and ranked[at] is not None and value == best)
        for at, value in enumerate(values)
    ]
    return (metric["name"].replace("_", " "), *cells, metric["better"] or "")


def _best(values: Sequence[float | None], better: str | None) -> float | None:
    known = [value for value in values if value is not None]
    if better is None or len(set(known)) < 2:
        return None
    return min(known) if better == "lower" else max(known)


def _marked(text: str, is_best: bool) -> object:
    return Rich(f"{text} *", tag("strong", f"{text} *")) if is_best else f"{text}  "


def figure(value: float | None, unit: str) -> str:
    """A figure of a metric in the form in which people read it."""
    if value is None:
        return "–"
    if unit == "0 to 1":
        return percent(value)
    if unit == "US dollars":
        return money(value)
    if unit == "tokens":
        return short(round(value))
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def difference(comparison: Any) -> Card:
    """Where they differ first, what each did there and why, and where each leaves the first."""
    found = comparison.difference
    if found is None:
        return Card("First difference", notes=("All show the model the same throughout.",))
    one = difference_card(found)
    pairs = (_pairs(comparison),) if len(comparison.runs) > 2 else ()
    return replace(one, title="First difference", line="", blocks=(*one.blocks, *pairs))


def difference_card(found: Any) -> Card:
    """The first point at which some policies differ."""
    rows = [(deed.policy, *_deed(deed)) for deed in found.deeds]
    caption = f"They differ first after message {found.index:,}, in turn {found.turn:,}"
    head = ("policy", "called at", "did", "tokens", "why")
    unlike = found.only_some_keep
    note = (
        f"{count(len(unlike), 'message')} that only some show word for word there: {ranges(unlike)}." if unlike else ""
    )
    table = Table.of(head, rows, most=len(rows), noun="policy", caption=caption)
    return Card("", blocks=(table,), notes=(note,) if note else ())


def _deed(deed: Any) -> tuple[object, ...]:
    changed = deed.tokens_after != deed.tokens_before
    tokens = f"{short(deed.tokens_before)} → {short(deed.tokens_after)}" if changed else short(deed.tokens_before)
    return (deed.hook or "–", deed.outcome, tokens, deed.reason)


def _pairs(comparison: Any) -> Table:
    """For each policy but the first where it leaves the first."""
    rows = []
    for name, found in comparison.differences:
        if found is None:
            rows.append((name, None, "always the same", ""))
        else:
            own, other = found.deeds
            rows.append((name, found.index, f"{own.outcome}: {own.reason}", f"{other.outcome}: {other.reason}"))
    first = comparison.names[0]
    head = ("policy", "message", f"{first} there", "the policy there")
    caption = f"Where each leaves {first}"
    return Table.of(head, rows, most=len(rows), noun="policy", caption=caption, is_open=False)


def ranges(numbers: Iterable[int]) -> str:
    """Whole numbers in ascending order, runs of them as ranges: `1–4, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [f"{first}" if first == last else f"{first}–{last}" for first, last in runs]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


def timeline(comparison: Any, *, most: int = _TIMELINE_ROWS, caption: str = "Timeline") -> Card:
    """Every point at which a policy replaced its list, in the order of the conversation."""
    rows = [
        (step.index, name, step.hook, step.tokens_before, step.tokens_after, step.reason)
        for name, step in comparison.moments
    ]
    head = ("message", "policy", "called at", "tokens before", "tokens after", "why")
    table = Table.of(head, rows, most=most, noun="compaction", caption=caption, is_open=False)
    return Card("Timeline", blocks=(table,) if rows else (), notes=() if rows else ("No policy replaced its list.",))


def setup(provenance: Mapping[str, str]) -> Card:
    """What it all rests on: versions, data, counter, prices, seed."""
    rows = list(provenance.items())
    return Card("Setup", blocks=(Table.of(("", ""), rows, most=len(rows), noun="line"),))


def settings(comparison: Any) -> Card:
    """The settings of each policy, folded."""
    blocks = tuple(
        Table.of(
            ("setting", "value"),
            [(key, _value(value)) for key, value in sorted(run.settings.items())],
            most=len(run.settings),
            noun="setting",
            caption=name,
            is_open=False,
            code=frozenset({"setting"}),
        )
        for name, run in zip(comparison.names, comparison.runs, strict=True)
        if run.settings
    )
    return Card("Settings", blocks=blocks, notes=() if blocks else ("No policy has settings.",))


def _value(value: object) -> str:
    return "unset" if value is None else f"{value:,}" if type(value) is int else str(value)
