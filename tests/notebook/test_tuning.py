"""Presets made again with other settings, and the code for them."""

from __future__ import annotations

import pytest

from harness_nb import CompactionConfig, HarnessAgent, presets
from harness_nb.errors import ConfigError
from harness_nb.notebook.tuning import keep_setting, preset_code, remade


def test_a_preset_is_made_again_with_a_setting_changed_and_its_own_kept() -> None:
    first = presets.get("eney", tier1_keep_ratio=0.2)
    again = remade(first, thresholds=(50, 60, 70))
    assert (again.settings["tier1_keep_ratio"], again.settings["thresholds"]) == (0.2, (50, 60, 70))


def test_a_variant_stays() -> None:
    shipped = presets.get("agentscope", variant="as_shipped")
    assert remade(shipped, keep_messages=5).variant == "as_shipped"


def test_a_wrong_setting_is_refused() -> None:
    with pytest.raises(ConfigError):
        remade(presets.get("harness"), keep_messages=-1)


def test_the_code_makes_the_same_preset() -> None:
    for made in (
        presets.get("harness", keep_messages=12, trigger_tokens=120_000),
        presets.get("eney", thresholds=(50, 60, 70)),
        presets.get("agentscope", variant="as_shipped"),
    ):
        assert eval(preset_code(made), {"presets": presets}).settings == made.settings  # noqa: S307 - our own code
    assert (
        preset_code(presets.get("harness", trigger_tokens=120_000)) == 'presets.get("harness", trigger_tokens=120_000)'
    )


def test_an_agents_own_compaction_is_made_again_as_that_of_the_default() -> None:
    with HarnessAgent(preset="eney", compaction=CompactionConfig(keep_messages=3), workspace="ws") as agent:
        assert remade(agent.preset, keep_messages=4).settings["keep_messages"] == 4
        assert preset_code(agent.preset) == 'presets.get("harness", keep_messages=3)'


def test_the_setting_that_moves_the_cut_is_found_where_there_is_one() -> None:
    assert keep_setting(presets.get("harness")) == "keep_messages"
    assert keep_setting(presets.get("harness", keep_tokens=5_000)) == ""
    assert keep_setting(presets.get("eney")) == "tier2_keep_messages"
