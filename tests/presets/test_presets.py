from __future__ import annotations

from dataclasses import fields

import pytest

from harness_nb import presets
from harness_nb.core.config import CompactionConfig
from harness_nb.core.limits import ModelLimits
from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError


def test_names_are_in_order_and_each_makes_a_preset_that_says_what_it_does() -> None:
    assert presets.names() == sorted(presets.names())
    assert {"eney", "harness"} <= set(presets.names())
    for name in presets.names():
        preset = presets.get(name)
        assert preset.name == name and preset.about.endswith(".")
        assert isinstance(preset.policy, CompactionPolicy)
        assert repr(preset) == f"Preset({name!r})"


@pytest.mark.parametrize("name", presets.names())
def test_the_settings_in_force_hold_those_of_the_policy(name: str) -> None:
    preset = presets.get(name)
    assert preset.policy is not None
    assert {key: preset.settings[key] for key in preset.policy.settings} == dict(preset.policy.settings)


def test_any_setting_can_be_given_by_name() -> None:
    assert presets.get("harness", trigger_messages=30).settings["trigger_messages"] == 30
    assert presets.get("eney", thresholds=(50, 60, 70)).settings["thresholds"] == (50, 60, 70)


@pytest.mark.parametrize(("name", "hint"), [("harnes", "'harness'"), ("nothing like it", "agentscope, eney")])
def test_an_unknown_preset_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        presets.get(name)
    assert repr(name) in caught.value.problem and hint in caught.value.remedy


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError) as caught:
        presets.get("harness", triger_tokens=5)
    assert "'triger_tokens'" in caught.value.problem and "'trigger_tokens'" in caught.value.remedy


def test_a_wrong_value_is_refused_by_the_setting_itself() -> None:
    with pytest.raises(ConfigError, match="keep_messages=-1"):
        presets.get("harness", keep_messages=-1)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("anthropic/claude-sonnet-4-5", 200_000), ("bedrock/opus", 200_000), ("my-HAIKU.v2", 200_000),
        ("gpt-5.2", 128_000), ("opuscule", 128_000), ("magnumopus7b", 128_000),
    ],
)  # fmt: skip
def test_eney_knows_two_windows_by_the_models_name(model: str, window: int) -> None:
    limits = presets.get("eney").limits(ModelLimits(name=model, window=32_000))
    assert (limits.window, limits.window_source) == (window, "preset eney" if window != 32_000 else "default")


@pytest.mark.parametrize("source", ["user", "server", "model"])
def test_r103_a_window_that_somebody_states_goes_before_the_presets(source: str) -> None:
    limits = ModelLimits(name="claude", window=9_000, window_source=source)
    assert presets.get("eney").limits(limits) is limits


def test_the_default_preset_takes_the_models_window() -> None:
    limits = ModelLimits(name="claude", window=9_000)
    assert presets.get("harness").limits(limits) is limits


def test_r104_a_users_compaction_replaces_the_presets_policy_and_settings() -> None:
    config = CompactionConfig(trigger_messages=7)
    preset = presets.get("eney").with_compaction(config)
    assert preset.policy is not None and preset.policy.name == "harness"
    assert dict(preset.settings) == {one.name: getattr(config, one.name) for one in fields(config)}
    assert preset.memory == presets.get("eney").memory


def test_compaction_can_be_switched_off() -> None:
    preset = presets.get("harness").with_compaction(None)
    assert preset.policy is None and preset.settings == {}
