"""Preset `hermes`: a checkpoint takes the place of the middle; bounded notes, a user profile, and search in sessions."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.memory.designs.hermes.design import HermesMemory, HermesMemoryConfig
from harness_nb.policies.hermes.config import HermesConfig
from harness_nb.policies.hermes.policy import HermesPolicy
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

NAME = "hermes"
VARIANTS = ("shipped", "report")

_REPORT = {"threshold_floor": 0.0, "minimum_threshold": 1, "head_decay": False, "in_place": False}
"""What the report on Hermes says and the shipped build does not do: half of the window whatever its size, a start that stays
protected, and a child session after a compaction."""


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `shipped` (default) or `report`.
        **settings: Any setting of `HermesConfig` and `HermesMemoryConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    given, notes = shared_out(NAME, settings, HermesConfig, HermesMemoryConfig)
    config = HermesConfig(**{**(_REPORT if version == "report" else {}), **given})
    memory = HermesMemoryConfig(**notes)
    return Preset(
        name=NAME,
        about="Summarises the middle at 75 % of the window and updates that summary; notes of 2,200 characters in the prompt.",
        policy=HermesPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(HermesMemory, settings=memory),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config, memory),
    )
