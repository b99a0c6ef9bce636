"""The figures of a policy's column in the tuner, quick enough for a slider, and the progress of a comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from harness_nb.lab.run import Replay
from harness_nb.model.prices import cached_price, input_price
from harness_nb.render.text import money, percent, short

_SECONDS_BETWEEN = 0.5


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


class Told:
    """Says how far a comparison is, once it has taken a moment; the line goes when the result is shown.

    Args:
        clock: Seconds that have passed; asked at each step.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._handle: Any = None

    def __call__(self, done: int, of: int) -> None:
        """Takes what is done and all there is to do."""
        if self._clock() - self._last < _SECONDS_BETWEEN:
            return
        from IPython.display import display

        self._last = self._clock()
        said = {"text/plain": f"{percent(done / of, 0)} replayed; stop it as any cell"}
        if self._handle is None:
            self._handle = display(said, raw=True, display_id=True)
        else:
            self._handle.update(said, raw=True)

    def end(self) -> None:
        """Takes the line away with the next output."""
        if self._handle is not None:
            from IPython.display import clear_output

            clear_output(wait=True)
