"""What tokens cost and how they are cached, read from litellm's own list without importing litellm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness_nb.model.windows import known_models, known_name

_PROVIDERS = {"vertex_ai-language-models": "gemini", "azure": "openai", "azure_ai": "openai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for one token.

    Attributes:
        model: Name of the model.
        input: Of input that has nothing to do with a cache.
        cached: Of input that is read from the cache.
        write: Of input that is written to it.
        output: Of output.
    """

    model: str
    input: float
    cached: float
    write: float
    output: float


def prices_of(name: str) -> Prices | None:
    """The prices of a model, or None where they are not known.

    A provider that states no price for reading from or writing to its cache takes that of input.

    Args:
        name: Name of the model as litellm takes it, with or without a provider.
    """
    paid, output = input_price(name), _price(name, "output_cost_per_token")
    if paid is None or output is None:
        return None
    return Prices(
        model=name,
        input=paid,
        cached=cached_price(name) or paid,
        write=_price(name, "cache_creation_input_token_cost") or paid,
        output=output,
    )


def input_price(name: str) -> float | None:
    """US dollars for one token of input that is not cached, or None where the price is not known.

    Args:
        name: Name of the model as litellm takes it, with or without a provider.
    """
    return _price(name, "input_cost_per_token")


def cached_price(name: str) -> float | None:
    """The same for one that is read from the provider's cache."""
    return _price(name, "cache_read_input_token_cost")


def least_cached(name: str) -> int | None:
    """Tokens below which a model's provider caches nothing, or None where the list does not say."""
    least = _entry(name).get("prompt_cache_min_tokens")
    return least if isinstance(least, int) and least >= 0 else None


def cache_provider(name: str) -> str:
    """Whose rules of caching a model has: `anthropic` for Claude wherever it runs, else the provider; empty if unknown."""
    entry = _entry(name)
    if entry and "claude" in name.casefold():
        return "anthropic"
    provider = str(entry.get("litellm_provider", ""))
    return _PROVIDERS.get(provider, provider)


def _price(name: str, field: str) -> float | None:
    price = _entry(name).get(field)
    return float(price) if isinstance(price, int | float) and price > 0 else None


def _entry(name: str) -> dict[str, Any]:
    return known_models().get(known_name(name) or "", {})
