"""Preset `picoclaw`: one summary of all but the last turns, or a tree of them; Markdown notes that the model writes itself."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.memory.designs.picoclaw import PicoClawMemory, PicoClawMemoryConfig
from harness_nb.policies.picoclaw.config import LegacyConfig, SeahorseConfig
from harness_nb.policies.picoclaw.legacy import LegacyPolicy
from harness_nb.policies.picoclaw.pipeline import PicoClawPolicy
from harness_nb.policies.picoclaw.seahorse import SeahorsePolicy
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

NAME = "picoclaw"
VARIANTS = ("legacy", "seahorse")

_ABOUT = {
    "legacy": "Summarises all but the last four messages above 20 messages or 75 % of the window, and forgets that summary.",
    "seahorse": "Summarises eight messages at a time after each turn, and summaries again when the window is full.",
}


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `legacy` (default) or `seahorse`.
        **settings: Any setting of `LegacyConfig` or `SeahorseConfig`, by the variant, and of `PicoClawMemoryConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    kind: type[LegacyConfig | SeahorseConfig] = LegacyConfig if version == "legacy" else SeahorseConfig
    given, notes = shared_out(NAME, settings, kind, PicoClawMemoryConfig)
    config, memory = kind(**given), PicoClawMemoryConfig(**notes)
    return Preset(
        name=NAME,
        about=_ABOUT[version],
        policy=_policy(config),
        memory=MemoryConfig(flush="never"),
        design=partial(PicoClawMemory, settings=memory, expands=version == "seahorse"),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config, memory),
    )


def _policy(config: LegacyConfig | SeahorseConfig) -> PicoClawPolicy:
    if isinstance(config, SeahorseConfig):
        return SeahorsePolicy(config, name=NAME)
    return LegacyPolicy(config, name=NAME)
