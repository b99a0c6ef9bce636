"""What a session costs at a model's prices, the policy's own model calls included, and when a compaction has paid off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.requests import Ask
from harness_nb.errors import ConfigError
from harness_nb.lab.cache import CacheRules, cache_use, rules_for
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step
from harness_nb.memory.results import Displayed
from harness_nb.model.prices import Prices, prices_of

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """When one compaction has paid off.

    Attributes:
        message: Messages of the transcript said by then.
        tokens_before: Size of the model input before.
        tokens_after: The same after.
        own_cost: US dollars for the policy's own model calls.
        calls: Further calls after which it has paid off: 0 when it has at once, None when it never does.
    """

    message: int
    tokens_before: int
    tokens_after: int
    own_cost: float
    calls: float | None


def break_even(tokens_before: int, tokens_after: int, own_cost: float, prices: Prices) -> float | None:
    """Further calls after which a compaction has paid off.

    `N* = (p_w T_new - p_r T_old + S) / (p_r (T_old - T_new))`: the new list is written to the cache once, and each call
    then reads less from it.

    Args:
        tokens_before: Size of the model input before.
        tokens_after: The same after.
        own_cost: US dollars for the model calls that it took.
        prices: Of the agent's model.

    Returns:
        The calls, 0 when it has paid off at once, None when it saves nothing.
    """
    saved = prices.cached * (tokens_before - tokens_after)
    if saved <= 0:
        return None
    return max(0.0, (prices.write * tokens_after - prices.cached * tokens_before + own_cost) / saved)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cost(Displayed):
    """What a replayed session costs, in US dollars.

    Attributes:
        agent: The recorded requests: what is read from the cache, what is written to it, and the recorded replies.
        own: The policy's own model calls, uncached.
        break_evens: When each compaction has paid off.
        prices: For one token.
        rules: Of the prompt cache.
    """

    agent: float
    own: float
    break_evens: tuple[BreakEven, ...]
    prices: Prices
    rules: CacheRules

    def __repr__(self) -> str:
        return f"Cost(${self.total:.2f} at {self.prices.model!r})"

    def __str__(self) -> str:
        return (
            f"${self.total:.2f} at the prices of {self.prices.model}: ${self.agent:.2f} for the agent's requests, "
            f"${self.own:.2f} for the policy's own"
        )

    @property
    def total(self) -> float:
        """Agent and own calls."""
        return self.agent + self.own

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each compaction."""
        names = ("message", "tokens_before", "tokens_after", "own_cost", "calls")
        return [{name: getattr(one, name) for name in names} for one in self.break_evens]

    @property
    def df(self) -> DataFrame:
        """One row a compaction: what it took and after how many calls it has paid off."""
        from harness_nb.frames import cost_frame

        return cost_frame(self.records)


def cost_of(run: Replay, model: str | None = None, *, rules: CacheRules | None = None) -> Cost:
    """What a replayed session costs.

    `sum_i [p_r read_i + p_w (tok(C_i) - read_i) + p_o out_i]`, and the policy's own calls at the price of uncached input.
    A request below the least size that is cached costs uncached input, too.

    Args:
        run: The replay.
        model: Name of the model whose prices hold; by default the recorded one.
        rules: Of the prompt cache; by default those of the model's provider.

    Raises:
        ConfigError: The prices of the model are not known.
    """
    name = model or run.transcript.model
    prices = known_prices(name)
    acting = rules or rules_for(name)
    return Cost(
        agent=sum(_requests(run, prices, acting)),
        own=sum(_own(step, prices) for step in run.acted),
        break_evens=tuple(_break_even(step, prices) for step in run.compactions),
        prices=prices,
        rules=acting,
    )


def known_prices(model: str) -> Prices:
    """The prices of a model.

    Raises:
        ConfigError: They are not known.
    """
    prices = prices_of(model)
    if prices is None:
        raise ConfigError(f"The prices of {model!r} are not known.", "Name a model that litellm lists.", subject=model)
    return prices


def _requests(run: Replay, prices: Prices, rules: CacheRules) -> Iterator[float]:
    """What each recorded request and its reply cost."""
    use = cache_use(run, rules)
    for (step, _), prompt, read in zip(run.contexts(), use.prompts, use.reads, strict=True):
        tokens = step.sent_tokens
        cached = tokens * read.tokens / prompt.tokens if prompt.tokens else 0.0
        fresh = prices.write if tokens >= rules.least_tokens else prices.input
        yield prices.cached * cached + fresh * (tokens - cached) + prices.output * _reply_tokens(run, step)


def _reply_tokens(run: Replay, step: Step) -> int:
    reply = run.transcript[step.index]
    return reply.usage.output_tokens if reply.usage is not None else step.view.measure(reply)


def _own(step: Step, prices: Prices) -> float:
    """What the model calls of a policy at one point cost."""
    paid = 0.0
    for one in step.passes:
        measure = one.view.measure
        for request, reply in one.asked:
            if isinstance(request, Ask):
                paid += prices.input * measure.total(request.messages) + prices.output * measure.text(reply.text)
    return paid


def _break_even(step: Step, prices: Prices) -> BreakEven:
    own = _own(step, prices)
    return BreakEven(
        message=step.index,
        tokens_before=step.tokens_before,
        tokens_after=step.tokens_after,
        own_cost=own,
        calls=break_even(step.tokens_before, step.tokens_after, own, prices),
    )


def total_cost(run: Replay, model: str | None = None) -> float | None:
    """US dollars for agent and policy; None where the prices are not known."""
    return cost_of(run, model).total if prices_of(model or run.transcript.model) is not None else None


def own_cost(run: Replay, model: str | None = None) -> float | None:
    """US dollars for the policy's own model calls, uncached; None where the prices are not known."""
    prices = prices_of(model or run.transcript.model)
    return sum(_own(step, prices) for step in run.acted) if prices is not None else None


def break_even_calls(run: Replay, model: str | None = None) -> float | None:
    """Calls after which the compactions together have paid off; None without one, without saving or without prices."""
    prices = prices_of(model or run.transcript.model)
    if prices is None or not run.compactions:
        return None
    steps = run.compactions
    before, after = sum(step.tokens_before for step in steps), sum(step.tokens_after for step in steps)
    return break_even(before, after, sum(_own(step, prices) for step in steps), prices)
