"""Policies over one conversation: replays that share what they measure, and the figures in which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.model.prices import cached_price, input_price
from harness_nb.notebook.results import Shown
from harness_nb.presets import Preset
from harness_nb.render.card import Card, Table
from harness_nb.render.text import count, money, percent, short

if TYPE_CHECKING:
    from pandas import DataFrame


def transcript_of(source: Any) -> Transcript:
    """The whole conversation of a transcript, a replay or an agent.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(source, Transcript):
        return source
    if isinstance(source, Replay):
        return source.transcript
    if not hasattr(source, "messages"):
        raise ConfigError(f"{source!r} is no conversation.", "Give an agent, a replay or a transcript.", subject=source)
    return Transcript(source.messages, name=f"session {source.session}", model=source.view().model.name)


def reused_tokens(run: Replay) -> int:
    """Tokens of all requests that stood in the request before in the same place, so that a provider's cache has them.

    After the list was replaced only what is fixed counts, so this is a little low where a policy changes the end alone.
    """
    reused = before = 0
    is_same = False
    for step in run.steps:
        is_same = is_same and not step.changed
        if step.hook == "request":
            reused += min(before if is_same else step.fixed_tokens, step.tokens_after)
            before, is_same = step.tokens_after, True
    return reused


def figures(run: Replay) -> dict[str, Any]:
    """What a policy cost and left over a conversation, by name."""
    totals = run.totals
    reused = reused_tokens(run)
    sent = totals.tokens_sent
    return {
        "compactions": totals.compactions,
        "failures": totals.failures,
        "overflows": totals.overflows,
        "model_calls": totals.model_calls,
        "mean_prompt_tokens": round(sent / totals.requests) if totals.requests else 0,
        "peak_tokens": totals.peak_tokens,
        "tokens_sent": sent,
        "own_tokens": totals.own_tokens,
        "prefix_reused": reused / sent if sent else 0.0,
        "final_tokens": totals.final_tokens,
        "messages_seen": len(run.final.input),
        "input_cost": _cost(run, sent + totals.own_tokens, reused),
    }


def _cost(run: Replay, tokens: int, reused: int) -> float | None:
    """US dollars for all input, what is reused at the price of cached input; None where the price is not known."""
    name = run.final.model.name
    price, cached = input_price(name), cached_price(name)
    if price is None:
        return None
    return (tokens - reused) * price + reused * (cached if cached is not None else price)


def metrics(run: Replay) -> tuple[tuple[str, str], ...]:
    """The figures in words, in the order shown."""
    found = figures(run)
    return (
        ("compactions", f"{found['compactions']:,}"),
        ("failed or refused", f"{found['failures']:,}"),
        ("overflows", f"{found['overflows']:,}"),
        ("model calls", f"{found['model_calls']:,}"),
        ("mean prompt", f"{short(found['mean_prompt_tokens'])} tokens"),
        ("peak", f"{short(found['peak_tokens'])} tokens"),
        ("sent in all", f"{short(found['tokens_sent'])} tokens"),
        ("sent for compactions", f"{short(found['own_tokens'])} tokens"),
        ("prefix reused", percent(found["prefix_reused"])),
        ("at the end", f"{short(found['final_tokens'])} tokens"),
        ("input cost", f"≈ {money(found['input_cost'])}" if found["input_cost"] is not None else "price not known"),
    )


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Policies compared over one conversation.

    Attributes:
        runs: A replay each.
        title: Of what conversation.
    """

    runs: tuple[Replay, ...]
    title: str = ""

    def __repr__(self) -> str:
        return f"Comparison({', '.join(run.policy for run in self.runs)})"

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each policy."""
        return [{"policy": run.policy, "window": run.window, **figures(run)} for run in self.runs]

    @property
    def df(self) -> DataFrame:
        """One row a policy."""
        from harness_nb.frames import comparison_frame

        return comparison_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        columns = [dict(metrics(run)) for run in self.runs]
        rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
        head = ("metric", *(run.policy for run in self.runs))
        line = f"{count(len(self.runs[0].transcript), 'message')}, window {short(self.runs[0].window)}; replies are assumed"
        return Card(f"Policies over {self.title or 'a conversation'}", line, (Table.of(head, rows, noun="metric"),))


def compare(
    source: Any, policies: Sequence[str | Preset | CompactionPolicy], *, window: int | None = None
) -> Comparison:
    """Lets several policies act on one conversation; no model is asked.

    Args:
        source: A transcript, a replay or an agent.
        policies: Names of presets, presets or policies.
        window: Context window in tokens; by default that of the recorded model.

    Raises:
        ConfigError: A preset is unknown, or the window is not valid.
    """
    transcript = transcript_of(source)
    runs: list[Replay] = []
    for policy in policies:
        measure = runs[0].final.measure if runs else None
        runs.append(replay(transcript, policy, window=window, model=None, measure=measure))
    return Comparison(tuple(runs), transcript.name)
