"""Preset `personal`: what a comparison of eight systems recommends for a personal agent that stays with one person.

A small profile is always in the prompt, notes only when the request points to them, the rest is found by search; old turns
become a structured checkpoint instead of being elided; and what is learnt changes the curated memory only after review.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from harness_nb.core.config import CompactionConfig, MaintenanceConfig, MemoryConfig, PinsConfig
from harness_nb.memory.designs.personal import PersonalMemory, PersonalMemoryConfig
from harness_nb.policies.harness import HarnessPolicy
from harness_nb.presets.preset import Preset, in_force, shared_out

NAME = "personal"

_CHECKPOINT: dict[str, Any] = {"trigger_messages": 0, "trigger_tokens": 0.75, "keep_tokens": 0.2}
"""Acts at three quarters of the window, where Eney begins, and keeps a fifth of it."""


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `CompactionConfig` and `PersonalMemoryConfig`."""
    given, notes = shared_out(NAME, settings, CompactionConfig, PersonalMemoryConfig)
    config, memory = CompactionConfig(**{**_CHECKPOINT, **given}), PersonalMemoryConfig(**notes)
    return Preset(
        name=NAME,
        about="Puts a checkpoint before a fifth of the window at 75 %; a profile in the prompt, notes only when relevant.",
        policy=HarnessPolicy(config, name=NAME),
        memory=MemoryConfig(review="always", max_injected_tokens=1_000),
        design=partial(PersonalMemory, settings=memory),
        maintenance=MaintenanceConfig(),
        pins=PinsConfig(),
        settings=in_force(config, memory),
    )
