"""What input costs, read from litellm's own list without importing litellm."""

from __future__ import annotations

from harness_nb.model.windows import known_models, known_name


def input_price(name: str) -> float | None:
    """US dollars for one token of input that is not cached, or None where the price is not known.

    Args:
        name: Name of the model as litellm takes it, with or without a provider.
    """
    price = known_models().get(known_name(name) or "", {}).get("input_cost_per_token")
    return float(price) if isinstance(price, int | float) and price > 0 else None
