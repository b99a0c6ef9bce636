from __future__ import annotations

import pytest

from harness_nb.model.prices import Prices, cache_provider, cached_price, input_price, least_cached, prices_of

MILLION = 1_000_000


def test_prices_are_those_of_the_list_for_one_token() -> None:
    found = prices_of("anthropic/claude-opus-4-5")
    assert found is not None
    assert [round(one * MILLION, 3) for one in (found.input, found.cached, found.write, found.output)] == [
        5,
        0.5,
        6.25,
        25,
    ]
    assert (input_price("claude-opus-4-5"), cached_price("claude-opus-4-5")) == (found.input, found.cached)


def test_a_provider_that_charges_nothing_more_for_writing_takes_the_price_of_input() -> None:
    found = prices_of("gpt-4o")
    assert found == Prices(model="gpt-4o", input=2.5e-6, cached=1.25e-6, write=2.5e-6, output=1e-5)


def test_an_unknown_model_has_no_price_and_no_provider() -> None:
    assert (prices_of("a-model-of-mine"), least_cached("a-model-of-mine")) == (None, None)
    assert cache_provider("a-model-of-mine") == ""


@pytest.mark.parametrize(
    ("name", "provider"),
    [("claude-opus-4-5", "anthropic"), ("gpt-4o", "openai"), ("gemini/gemini-2.5-pro", "gemini")],
)
def test_a_model_is_cached_by_the_rules_of_its_provider(name: str, provider: str) -> None:
    assert cache_provider(name) == provider
