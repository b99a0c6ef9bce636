"""Preset `opencode`: a summary under five headings stands for all but a short tail; instruction files are all that lasts."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.memory.designs.opencode import OpenCodeMemory, OpenCodeMemoryConfig
from harness_nb.policies.opencode.config import OpenCodeConfig
from harness_nb.policies.opencode.policy import OpenCodePolicy
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

NAME = "opencode"
VARIANTS = ("1.18.3", "1.18.33")

_LATER: dict[str, Any] = {"tail_turns": None, "tail_cap": 15_000, "summary_input": "transcript"}
"""What 1.18.33 does differently."""


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `1.18.3` (default) or `1.18.33`.
        **settings: Any setting of `OpenCodeConfig` and `OpenCodeMemoryConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    given, files = shared_out(NAME, settings, OpenCodeConfig, OpenCodeMemoryConfig)
    config = OpenCodeConfig(**{**(_LATER if version == "1.18.33" else {}), **given})
    memory = OpenCodeMemoryConfig(**files)
    return Preset(
        name=NAME,
        about="Summarises all but the last two turns, at most 8,000 tokens, when the last count leaves no room for a reply.",
        policy=OpenCodePolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(OpenCodeMemory, settings=memory),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config, memory),
    )
