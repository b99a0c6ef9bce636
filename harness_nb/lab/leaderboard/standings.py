"""Rows of a leaderboard, made of trials: sums, means, and who is beaten by nobody. Pure.

There is no single number. Within a source and a window, an entrant is beaten by another that needs no more tokens and keeps
no less, and is better in one of both; its rank is 1 and one more for each that beats it. Not ranked are those whose figures say
nothing beside the others': who refused the window, never acted, sent an invalid prompt or one above the window.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from harness_nb.lab.certainty import bootstrap
from harness_nb.lab.leaderboard.trials import Trial

Status = Literal["ranked", "over the window", "invalid", "never acted", "refused", "not scored"]
STATUSES: tuple[Status, ...] = ("ranked", "over the window", "invalid", "never acted", "refused", "not scored")

MEASURES = ("evidence_graded", "gold_arguments", "future_use")
"""What survival is: the first of these that a source has."""

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One entrant on one source at one window.

    Attributes:
        source: Name of the source.
        window: Context window in tokens, or None for that of each recorded model.
        preset: Name of the preset.
        variant: Which version of it, or empty.
        status: `ranked`, or why not.
        rank: 1 for who is beaten by nobody; None where it is not ranked.
        note: The status in figures, or why the window was refused.
        answered_by: Model that answered the policy, or `assumed`.
        conversations: How many were replayed.
        acted: In how many of them the policy replaced the list.
        tokens: Tokens of all requests and of the policy's own model calls, summed.
        own_tokens: Those of the policy's own model calls.
        peak_tokens: The largest request.
        compactions: Points at which the list was replaced.
        model_calls: Model calls that the policies made.
        failures: Points at which a plan failed or was refused.
        overflows: Requests above the window.
        invalid_prompts: Requests that a provider refuses.
        cache_reuse: Part of the prompt tokens that is read from the provider's cache, 0 to 1.
        cost: US dollars at the recorded models' prices, or None.
        measure: What survival is, one of `MEASURES`.
        survival: Its mean, 0 to 1; questions count alike.
        low: Lower end of its 95 % interval, conversations resampled; None for a single one.
        high: Upper end.
        verbatim: Share of the evidence word for word in the context, 0 to 1, or None.
        reachable: The same with what a search finds, or None.
    """

    source: str
    window: int | None
    preset: str
    variant: str
    status: Status
    rank: int | None = None
    note: str = ""
    answered_by: str = ""
    conversations: int = 0
    acted: int = 0
    tokens: int | None = None
    own_tokens: int | None = None
    peak_tokens: int | None = None
    compactions: int | None = None
    model_calls: int | None = None
    failures: int | None = None
    overflows: int | None = None
    invalid_prompts: int | None = None
    cache_reuse: float | None = None
    cost: float | None = None
    measure: str = ""
    survival: float | None = None
    low: float | None = None
    high: float | None = None
    verbatim: float | None = None
    reachable: float | None = None

    @property
    def label(self) -> str:
        """Preset and version."""
        return f"{self.preset} {self.variant}".rstrip()

    @property
    def record(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self) | {"is_on_front": self.rank == 1}


def standings(trials: Iterable[Trial]) -> tuple[Standing, ...]:
    """The rows: by source and window in the order of the trials, those that are ranked first, best first."""
    panels: dict[tuple[str, int | None], dict[tuple[str, str], list[Trial]]] = {}
    for trial in trials:
        entrants = panels.setdefault((trial.source, trial.window), {})
        entrants.setdefault((trial.entrant.preset, trial.entrant.variant), []).append(trial)
    found: list[Standing] = []
    for panel in panels.values():
        measure = _measure(trial for group in panel.values() for trial in group)
        found += ordered(ranked([_standing(group, measure) for group in panel.values()]))
    return tuple(found)


def ranked(rows: Sequence[Standing]) -> list[Standing]:
    """The rows of one source and window with their ranks."""
    field = [one for one in rows if one.status == "ranked"]
    return [
        replace(one, rank=1 + sum(beats(other, one) for other in field)) if one.status == "ranked" else one
        for one in rows
    ]


def beats(one: Standing, other: Standing) -> bool:
    """Whether one row needs no more tokens and keeps no less than another, and is better in one of both."""
    mine, theirs = _place(one), _place(other)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


def ordered(rows: Iterable[Standing]) -> list[Standing]:
    """By rank, then by survival, then by tokens; those that are not ranked last, by why."""

    def key(one: Standing) -> tuple[Any, ...]:
        tokens, lost = _place(one)
        return STATUSES.index(one.status), one.rank or 0, lost, tokens, one.label

    return sorted(rows, key=key)


def _place(one: Standing) -> tuple[float, float]:
    """Tokens and what is lost: of both, less is better."""
    tokens = math.inf if one.tokens is None else one.tokens
    return tokens, math.inf if one.survival is None else -one.survival


def _measure(trials: Iterable[Trial]) -> str:
    """What survival is here."""
    scores = [trial.score for trial in trials if trial.score is not None]
    return next((name for name in MEASURES if any(one.values.get(name) is not None for one in scores)), "")


def _standing(trials: Sequence[Trial], measure: str) -> Standing:
    first = trials[0]
    known: dict[str, Any] = {
        "source": first.source,
        "window": first.window,
        "preset": first.entrant.preset,
        "variant": first.entrant.variant,
        "conversations": len(trials),
        "measure": measure,
    }
    refused = [trial for trial in trials if trial.score is None]
    if refused:
        said = f"{len(refused)} of {len(trials)}: " if len(trials) > len(refused) else ""
        return Standing(**known, status="refused", note=said + refused[0].refusal)
    figures = _figures(trials, measure)
    status, note = _status(figures, len(trials))
    return Standing(**known, **figures, status=status, note=note)


def _figures(trials: Sequence[Trial], measure: str) -> dict[str, Any]:
    """Sums and means over the conversations."""
    scores = [trial.score for trial in trials if trial.score is not None]
    sums = {name: round(_total(trials, name)) for name in _SUMS}
    costs = [one.values.get("cost") for one in scores]
    values = {trial.conversation: [value] * trial.weight for trial, value in _known(trials, measure)}
    interval = bootstrap(values, resamples=RESAMPLES) if values else None
    return sums | {
        "answered_by": ", ".join(sorted({one.answered_by for one in scores})),
        "acted": sum(bool(one.values.get("compactions")) for one in scores),
        "tokens": round(_total(trials, "tokens_sent")) + sums["own_tokens"],
        "peak_tokens": max(round(one.values.get("peak_tokens") or 0) for one in scores),
        "cache_reuse": _mean_of_tokens(trials, "cache_reuse"),
        "cost": None if None in costs else math.fsum(cost for cost in costs if cost is not None),
        "survival": interval.mean if interval else None,
        "low": interval.low if interval and interval.clusters > 1 else None,
        "high": interval.high if interval and interval.clusters > 1 else None,
        "verbatim": _mean_of_questions(trials, "evidence_verbatim"),
        "reachable": _mean_of_questions(trials, "reachable_at_10"),
    }


_SUMS = ("own_tokens", "compactions", "model_calls", "failures", "overflows", "invalid_prompts")


def _status(figures: dict[str, Any], conversations: int) -> tuple[Status, str]:
    if figures["invalid_prompts"]:
        return "invalid", f"{figures['invalid_prompts']:,} invalid prompts"
    if figures["overflows"]:
        return "over the window", f"{figures['overflows']:,} requests above it"
    if not figures["acted"]:
        return "never acted", f"{figures['failures']:,} plans failed" if figures["failures"] else "nothing was replaced"
    if figures["survival"] is None:
        return "not scored", "no survival to measure"
    return "ranked", f"acted in {figures['acted']} of {conversations}" if figures["acted"] < conversations else ""


def _known(trials: Iterable[Trial], name: str) -> list[tuple[Trial, float]]:
    """The trials that have a figure, each with it."""
    pairs = ((trial, trial.score.values.get(name)) for trial in trials if trial.score is not None)
    return [(trial, value) for trial, value in pairs if value is not None]


def _total(trials: Iterable[Trial], name: str) -> float:
    return math.fsum(value for _, value in _known(trials, name))


def _mean_of_questions(trials: Iterable[Trial], name: str) -> float | None:
    known = _known(trials, name)
    return statistics.fmean((value for _, value in known), weights=[one.weight for one, _ in known]) if known else None


def _mean_of_tokens(trials: Iterable[Trial], name: str) -> float | None:
    """The mean over all tokens that were sent."""
    known = [
        (value, trial.score.values.get("tokens_sent") or 0) for trial, value in _known(trials, name) if trial.score
    ]
    sent = math.fsum(tokens for _, tokens in known)
    return math.fsum(value * tokens for value, tokens in known) / sent if sent else None
