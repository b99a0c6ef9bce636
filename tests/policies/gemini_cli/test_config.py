from __future__ import annotations

from typing import Any

import pytest

from harness_nb import presets
from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError
from harness_nb.policies.gemini_cli.config import GeminiCliConfig, asked_model, compressor, nests_media


@pytest.mark.parametrize(
    ("setting", "flag", "threshold"),
    [(None, None, 0.5), (0, None, 0.5), (0.2, 0.8, 0.2), (None, 0.8, 0.8), (0, 0.7, 0.7), (None, 0, 0.5), (1, None, 1)],
)
def test_a_threshold_of_zero_does_not_switch_compression_off(
    setting: float | None, flag: float | None, threshold: float
) -> None:
    assert GeminiCliConfig(compression_threshold=setting, threshold_flag=flag).threshold == threshold


@pytest.mark.parametrize(
    "setting",
    [
        {"compression_threshold": 2}, {"preserve_fraction": 0}, {"preserve_fraction": 1.0}, {"masking": "yes"},
        {"tool_response_budget": -1}, {"shell_tools": "bash"}, {"max_session_turns": -2}, {"blank_attempts": 1.5},
    ],
)  # fmt: skip
def test_a_setting_that_is_not_valid_is_refused_by_name(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        GeminiCliConfig(**setting)
    assert next(iter(setting)) in caught.value.problem


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-2.5-pro", "gemini-2.5-pro"), ("gemini-3.1-pro-preview", "gemini-3-pro-preview"),
        ("gemini-3.5-flash", "gemini-3-flash-preview"), ("gemini-3.5-flash-lite", "gemini-3.1-flash-lite"),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite"), ("gemma-4-31b-it", "gemini-3-pro-preview"),
        ("something", "gemini-3-pro-preview"), ("gemini-9-pro", "gemini-3-pro-preview"),
    ],
)  # fmt: skip
def test_snapshots_are_written_by_a_model_of_the_same_tier(model: str, expected: str) -> None:
    assert compressor(model) == expected


def test_another_model_is_asked_only_where_its_key_is_there() -> None:
    config = GeminiCliConfig()
    assert asked_model(config, "gemini/gemini-3.1-pro-preview") == "gemini/gemini-3-pro-preview"
    assert asked_model(config, "gemini/gemini-2.5-pro") is None
    assert asked_model(config, "anthropic/claude") is None and asked_model(config, "gemma-4-31b-it") is None
    assert asked_model(GeminiCliConfig(summary_model="cheap"), "gemini-2.5-pro") == "cheap"


def test_media_stand_inside_results_for_gemini_3_only() -> None:
    assert nests_media("gemini/gemini-3-pro-preview")
    assert not nests_media("gemini-2.5-pro") and not nests_media("gemini-3.5-flash")


def test_tools_of_mcp_servers_are_known_by_the_beginning_of_their_names() -> None:
    config = GeminiCliConfig(mcp_tools=("mcp_*", "fetch"))
    assert config.is_mcp("mcp_a") and config.is_mcp("fetch")
    assert not config.is_mcp("fetched") and not config.is_mcp(None)


@pytest.mark.parametrize(
    ("limits", "settings", "window"),
    [
        (ModelLimits(name="gemini/gemini-2.5-pro"), {}, 1_048_576),
        (ModelLimits(name="gemma-4-31b-it"), {}, 256_000),
        (ModelLimits(name="anthropic/claude", window=200_000, window_source="litellm"), {}, 200_000),
        (ModelLimits(name="other"), {"window_other": 1_048_576}, 1_048_576),
        (ModelLimits(name="gemini-2.5-pro", window=5_000, window_source="user"), {}, 5_000),
    ],
)  # fmt: skip
def test_the_window_is_gemini_clis_for_the_models_that_it_knows(
    limits: ModelLimits, settings: dict[str, int], window: int
) -> None:
    assert presets.get("gemini-cli", **settings).limits(limits).window == window
