from __future__ import annotations

import pytest

from harness_nb.errors import ConfigError
from harness_nb.policies.openclaw.config import OpenClawConfig


@pytest.mark.parametrize(
    ("window", "reserve", "threshold"),
    [
        (1_000, 500, 0),
        (16_000, 8_000, 0),
        (27_999, 19_999, 3_999),
        (32_000, 20_000, 8_000),
        (200_000, 20_000, 176_000),
    ],
)
def test_the_reserve_leaves_room_for_a_prompt(window: int, reserve: int, threshold: int) -> None:
    config = OpenClawConfig()
    assert (config.reserve(window), config.threshold(window)) == (reserve, threshold)


def test_a_lower_floor_lets_the_configured_reserve_count() -> None:
    assert OpenClawConfig(reserve_tokens=4_000, reserve_tokens_floor=0).reserve(64_000) == 4_000
    assert OpenClawConfig(reserve_tokens=90_000).reserve(64_000) == 56_000


def test_a_provider_that_compacts_by_itself_raises_the_threshold() -> None:
    assert OpenClawConfig(server_threshold=190_000).threshold(200_000) == 190_000


def test_turns_and_tries_have_an_upper_bound() -> None:
    config = OpenClawConfig(recent_turns_preserve=20, quality_guard_max_retries=5)
    assert (config.excerpt_turns, config.tries) == (12, 4)
    assert OpenClawConfig(quality_guard=False).tries == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "plain"},
        {"identifier_policy": "loose"},
        {"keep_recent_tokens": 0},
        {"reserve_tokens": -1},
        {"pruning_soft_ratio": 2},
        {"max_history_share": 0},
        {"precheck": 1},
        {"result_max_chars": 0},
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(wrong: dict[str, object]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError) as caught:
        OpenClawConfig(**wrong)  # type: ignore[arg-type]
    assert name in str(caught.value)
