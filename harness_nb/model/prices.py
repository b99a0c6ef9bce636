"""What input costs, read from litellm's own list without importing litellm."""

from __future__ import annotations

from harness_nb.model.windows import known_models, known_name


def input_price(name: str) -> float | None:
    """US dollars for one token of input that is not cached, or None where the price is not known.

    Args:
        name: Name of the model as litellm takes it, with or without a provider.
    """
    return _price(name, "input_cost_per_token")


def cached_price(name: str) -> float | None:
    """The same for one that is read from the provider's cache."""
    return _price(name, "cache_read_input_token_cost")


def _price(name: str, field: str) -> float | None:
    price = known_models().get(known_name(name) or "", {}).get(field)
    return float(price) if isinstance(price, int | float) and price > 0 else None
