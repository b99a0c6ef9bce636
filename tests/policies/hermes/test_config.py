from __future__ import annotations

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError
from harness_nb.policies.hermes.config import HermesConfig, thresholds


def at(window: int, name: str = "model", **settings: object) -> tuple[int, int, int, int]:
    found = thresholds(HermesConfig(**settings), ModelLimits(name=name, window=window))  # type: ignore[arg-type]
    return found.trigger, found.tail, found.soft_ceiling, found.summary_ceiling


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (64_000, (54_400, 10_880, 16_320, 3_200)),
        (85_000, (64_000, 12_800, 19_200, 4_250)),
        (128_000, (96_000, 19_200, 28_800, 6_400)),
        (262_144, (196_608, 39_321, 58_981, 10_000)),
        (511_999, (383_999, 76_799, 115_198, 10_000)),
        (512_000, (256_000, 51_200, 76_800, 10_000)),
    ],
)
def test_the_trigger_is_a_share_of_the_window_with_a_floor_and_a_way_out(
    window: int, expected: tuple[int, int, int, int]
) -> None:
    assert at(window) == expected


@pytest.mark.parametrize(
    ("window", "reserved", "trigger"),
    [(200_000, 32_000, 126_000), (128_000, 64_000, 54_400), (1_000_000, 64_000, 468_000), (200_000, 150_000, 42_500)],
)
def test_room_for_the_reply_is_taken_off_first(window: int, reserved: int, trigger: int) -> None:
    assert at(window, max_tokens=reserved)[0] == trigger


def test_a_higher_share_of_the_user_holds_and_a_lower_one_is_raised() -> None:
    assert at(200_000, threshold=0.9)[0] == 180_000
    assert at(200_000, threshold=0.1)[0] == 150_000


def test_known_models_get_a_higher_share_unless_that_is_switched_off() -> None:
    assert at(1_000_000, "openai-codex/gpt-5.5")[0] == 850_000
    assert at(1_000_000, "openai-codex/gpt-5.5", model_raises=False)[0] == 500_000
    assert at(1_000_000, "gpt-5.5")[0] == 500_000


def test_the_share_of_the_tail_is_held_between_a_tenth_and_four_fifths() -> None:
    assert at(200_000, target_ratio=0.01)[1] == 15_000
    assert at(200_000, target_ratio=1.0)[1] == 120_000


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 2}, {"protect_last_n": -1}, {"level": "live"}, {"below_minimum": "no"}, {"max_tokens": "4k"}],
)
def test_a_wrong_setting_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        HermesConfig(**wrong)  # type: ignore[arg-type]
