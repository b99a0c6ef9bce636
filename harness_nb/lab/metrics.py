"""Figures of a replay by name: one registry for scores, sweeps and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from harness_nb.errors import ConfigError
from harness_nb.lab.cache import cache_reuse
from harness_nb.lab.cost import break_even_calls, own_cost, total_cost
from harness_nb.lab.future_use import exact_edits, future_use_share, reacquired_tokens
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step
from harness_nb.lab.validity import invalid_prompts

Better = Literal["lower", "higher"]
Compute = Callable[[Replay], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure of a replay.

    Attributes:
        name: Its name; a column of frames and a key in reports.
        compute: Gives the figure of a replay, or None where the replay has none.
        unit: Of the figure.
        better: Which direction is better, or None where neither is.
        meaning: What it says, in one line.
    """

    name: str
    compute: Compute
    unit: str = ""
    better: Better | None = None
    meaning: str = ""

    def __call__(self, run: Replay) -> float | None:
        """The figure of a replay."""
        return self.compute(run)

    def to_record(self) -> dict[str, Any]:
        """Name, unit, direction and meaning, for reports."""
        return {"name": self.name, "unit": self.unit, "better": self.better, "meaning": self.meaning}


def compression(run: Replay) -> float | None:
    """Size after all compactions by size before, `sum tok(after) / sum tok(before)`; None where there was none."""
    before = sum(step.tokens_before for step in run.compactions)
    return sum(step.tokens_after for step in run.compactions) / before if before else None


def mean_tokens(run: Replay) -> float | None:
    """Mean size of the recorded requests, the load `sum tok(C_i)` by their number; None where there was none."""
    totals = run.totals
    return totals.tokens_sent / totals.requests if totals.requests else None


def summary_tokens(run: Replay) -> float:
    """Tokens of the summaries that plans put into the list, each counted once when it is made."""
    return sum(map(_new_summaries, run.compactions))


def _new_summaries(step: Step) -> int:
    size = 0
    for one in step.passes:
        if one.plan.changes:
            known = {id(item.message) for item in one.view.input}
            made = (item.message for item in one.plan.items(one.view) if item.how == "summary")
            size += one.view.measure.total(message for message in made if id(message) not in known)
    return size


def _total(name: str, unit: str, better: Better | None, meaning: str) -> Metric:
    return Metric(name=name, compute=attrgetter(f"totals.{name}"), unit=unit, better=better, meaning=meaning)


_ALL = (
    Metric(
        name="invalid_prompts",
        compute=invalid_prompts,
        unit="requests",
        better="lower",
        meaning="requests that a provider would refuse or that misquote the conversation",
    ),
    _total("messages", "messages", None, "messages replayed"),
    _total("turns", "turns", None, "turns"),
    _total("requests", "requests", None, "recorded model requests"),
    _total("tokens_sent", "tokens", "lower", "load: sum of the sizes of all recorded requests"),
    _total("peak_tokens", "tokens", "lower", "largest of them"),
    Metric(name="mean_tokens", compute=mean_tokens, unit="tokens", better="lower", meaning="mean of them"),
    _total("final_tokens", "tokens", "lower", "size of the model input at the end"),
    _total("compactions", "points", None, "points at which the list was replaced"),
    _total("failures", "points", "lower", "points at which a plan failed or was refused"),
    _total("overflows", "requests", "lower", "requests that were above the window after the policy had acted"),
    _total("model_calls", "calls", "lower", "model calls that the policy made"),
    _total("own_tokens", "tokens", "lower", "tokens that the policy's own model calls sent and brought, estimated"),
    Metric(
        name="summary_tokens",
        compute=summary_tokens,
        unit="tokens",
        better="lower",
        meaning="tokens of the summaries that were put into the list, each once",
    ),
    Metric(
        name="compression",
        compute=compression,
        unit="0 to 1",
        better="lower",
        meaning="size after all compactions by size before",
    ),
    Metric(
        name="future_use",
        compute=future_use_share,
        unit="0 to 1",
        better="higher",
        meaning="identifiers that later calls needed, had seen, and that were still in the context",
    ),
    Metric(
        name="exact_edits",
        compute=exact_edits,
        unit="0 to 1",
        better="higher",
        meaning="later edits whose old text had been seen and was still in the context word for word",
    ),
    Metric(
        name="reacquired_tokens",
        compute=reacquired_tokens,
        unit="tokens",
        better="lower",
        meaning="distinct tool results that first held what later calls needed and missed",
    ),
)


def by_provider(model: str | None = None) -> tuple[Metric, ...]:
    """The metrics that depend on a provider's cache and prices.

    Args:
        model: Name of the model whose prices and cache rules hold; by default that of each recorded session.
    """
    at = f"at the prices of {model or 'the recorded model'}"
    dollars = "US dollars"
    return (
        Metric(
            name="cache_reuse",
            compute=partial(cache_reuse, model=model),
            unit="0 to 1",
            better="higher",
            meaning="part of all prompt tokens that is read from the provider's cache, by its rules",
        ),
        Metric(
            name="cost",
            compute=partial(total_cost, model=model),
            unit=dollars,
            better="lower",
            meaning=f"the agent's requests and the policy's own, {at}",
        ),
        Metric(
            name="own_cost",
            compute=partial(own_cost, model=model),
            unit=dollars,
            better="lower",
            meaning=f"the policy's own model calls, uncached, {at}",
        ),
        Metric(
            name="break_even_calls",
            compute=partial(break_even_calls, model=model),
            unit="calls",
            better="lower",
            meaning="further calls after which the compactions together have paid off",
        ),
    )


METRICS: dict[str, Metric] = {one.name: one for one in (*_ALL, *by_provider())}
"""All metrics that need nothing but a replay, by name."""


def chosen(metrics: Iterable[str | Metric | Callable[[Replay], Any]]) -> tuple[Metric, ...]:
    """Metrics by name, as they are, or made of functions of a replay, whose names they take.

    Raises:
        ConfigError: There is no metric of a name, or a function has none.
    """
    return tuple(_chosen(one) for one in metrics)


def _chosen(given: str | Metric | Callable[[Replay], Any]) -> Metric:
    if isinstance(given, Metric):
        return given
    if isinstance(given, str):
        return _by_name(given)
    name = getattr(given, "__name__", "")
    if not name or name == "<lambda>":
        raise ConfigError(f"{given!r} has no name for its column.", "Give a function with a name.", subject=given)
    return Metric(name=name, compute=given, meaning=(given.__doc__ or "").strip().partition("\n")[0])


def _by_name(name: str) -> Metric:
    if name not in METRICS:
        from difflib import get_close_matches

        near = get_close_matches(name, METRICS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use {', '.join(METRICS)}, or a function."
        raise ConfigError(f"There is no metric {name!r}.", hint, subject=name)
    return METRICS[name]
