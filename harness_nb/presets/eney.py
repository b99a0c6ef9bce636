"""Preset `eney`: three tiers of pressure without a model, and a memory that nothing is written to by itself."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.core.limits import ModelLimits
from harness_nb.policies.tiers import TiersConfig, TiersPolicy
from harness_nb.presets.preset import Preset, taken

NAME = "eney"

CLAUDE_WINDOW = 200_000
OTHER_WINDOW = 128_000
"""Windows in tokens that the report on Eney names: for Claude models, and for every other."""

_CLAUDE = re.compile(r"claude|(?<![a-z0-9])(?:opus|sonnet|haiku)(?![a-z0-9])")


def window_of(limits: ModelLimits) -> int:
    """The window that Eney assumes by the model's name."""
    return CLAUDE_WINDOW if _CLAUDE.search(limits.name.lower()) else OTHER_WINDOW


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `TiersConfig`."""
    config = TiersConfig(**taken(NAME, settings, TiersConfig))
    return Preset(
        name=NAME,
        about="Shortens a result at 75 %, elides all but six messages at 90 %, keeps one request at 95 % of the window.",
        policy=TiersPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        settings={one.name: getattr(config, one.name) for one in fields(config)},
        window_of=window_of,
    )
