"""Preset `harness`, the default: two layers of memory and the harness's compaction."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from harness_nb.core.config import CompactionConfig, MaintenanceConfig, PinsConfig
from harness_nb.policies.harness import HarnessPolicy
from harness_nb.presets.preset import Preset, taken

NAME = "harness"


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `CompactionConfig`."""
    config = CompactionConfig(**taken(NAME, settings, CompactionConfig))
    return Preset(
        name=NAME,
        about="Summarises what is old in four sections; facts go to daily logs, MEMORY.md is in the prompt.",
        policy=HarnessPolicy(config),
        maintenance=MaintenanceConfig(),
        pins=PinsConfig(),
        settings={one.name: getattr(config, one.name) for one in fields(config)},
    )
