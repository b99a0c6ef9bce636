from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError
from harness_nb.policies.picoclaw.config import LegacyConfig, SeahorseConfig


def test_the_reply_gets_a_quarter_of_the_window_at_most_32_768_unless_told_otherwise() -> None:
    small, large = (ModelLimits(name="model", window=window) for window in (24_000, 1_000_000))
    assert [LegacyConfig().reply_tokens(one) for one in (small, large)] == [6_000, 32_768]
    assert SeahorseConfig(max_tokens=500).reply_tokens(small) == 500


@pytest.mark.parametrize(
    "wrong",
    [{"keep_last": -1}, {"llm_attempts": 0}, {"excerpt_share": 2}, {"carries_summary": 1}, {"max_tokens": 0.5}],
)
def test_a_wrong_setting_of_the_legacy_manager_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        LegacyConfig(**wrong)


@pytest.mark.parametrize("wrong", [{"leaf_min": 0}, {"condense_at": 0}, {"condense_at": 1.5}, {"uses_model": "no"}])
def test_a_wrong_setting_of_seahorse_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SeahorseConfig(**wrong)
