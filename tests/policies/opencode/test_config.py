from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError
from harness_nb.policies.opencode.config import OpenCodeConfig, budget


def limits(window: int = 200_000, output: int | None = 64_000) -> ModelLimits:
    return ModelLimits(name="model", window=window, max_output=output)


@pytest.mark.parametrize(
    ("window", "output", "settings", "usable", "tail"),
    [
        (200_000, 64_000, {}, 168_000, 8_000),
        (200_000, 64_000, {"reserved": 50_000}, 168_000, 8_000),
        (200_000, 64_000, {"input_limit": 200_000}, 180_000, 8_000),
        (200_000, 64_000, {"input_limit": 200_000, "reserved": 0}, 200_000, 8_000),
        (200_000, 8_192, {}, 191_808, 8_000),
        (400_000, 128_000, {"input_limit": 272_000}, 252_000, 8_000),
        (128_000, 16_384, {}, 111_616, 8_000),
        (32_768, 32_768, {}, 768, 2_000),
        (60_000, 32_000, {}, 28_000, 7_000),
    ],
)
def test_the_budgets_follow_from_the_model_s_limits(
    window: int, output: int, settings: dict[str, Any], usable: int, tail: int
) -> None:
    found = budget(OpenCodeConfig(**settings), limits(window, output))
    assert (found.usable, found.tail) == (usable, tail)


def test_a_reserve_does_nothing_without_an_input_limit() -> None:
    assert budget(OpenCodeConfig(reserved=90_000), limits()) == budget(OpenCodeConfig(), limits())


def test_the_tail_goes_by_the_usual_reserve_for_a_reply() -> None:
    found = budget(OpenCodeConfig(output_token_max=4_000), limits(40_000, 36_000))
    assert (found.reply, found.usable, found.tail) == (4_000, 36_000, 2_000)


def test_a_budget_of_one_s_own_is_taken_as_it_is() -> None:
    assert budget(OpenCodeConfig(preserve_recent_tokens=50_000), limits()).tail == 50_000


def test_a_reply_of_unknown_length_reserves_no_more_than_a_quarter_unless_as_shipped() -> None:
    assert budget(OpenCodeConfig(), limits(24_000, None)).usable == 18_000
    assert budget(OpenCodeConfig(caps_reserve=False), limits(24_000, None)).usable == 0
    assert budget(OpenCodeConfig(output_limit=0, caps_reserve=False), limits()).usable == 168_000


def test_an_unknown_window_leaves_nothing() -> None:
    found = budget(OpenCodeConfig(context_limit=0), limits())
    assert (found.context, found.usable, found.tail) == (0, 0, 2_000)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tail_turns": -1},
        {"summary_input": "prose"},
        {"prune": "yes"},
        {"prune_tools": "skill"},
        {"summary_context": " "},
        {"output_token_max": 0},
    ],
)
def test_a_wrong_setting_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        OpenCodeConfig(**wrong)
