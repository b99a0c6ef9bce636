"""Preset `openclaw`: an audited summary with excerpts above 20,000 kept tokens, and Markdown notes with hybrid search."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.memory.designs.openclaw.config import (
    OpenClawDreamingConfig,
    OpenClawMemoryConfig,
    OpenClawSearchConfig,
)
from harness_nb.memory.designs.openclaw.design import OpenClawMemory
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.policy import OpenClawPolicy
from harness_nb.presets.preset import Preset, in_force, shared_out

NAME = "openclaw"

_KEEPS_ALL = MaintenanceConfig(daily_file_retention_days=None, session_retention_days=None)


def make(**settings: Any) -> Preset:
    """The preset.

    Args:
        **settings: Any setting of `OpenClawConfig`, `OpenClawMemoryConfig`, `OpenClawSearchConfig` and
            `OpenClawDreamingConfig`.
    """
    kinds = (OpenClawConfig, OpenClawMemoryConfig, OpenClawSearchConfig, OpenClawDreamingConfig)
    given = shared_out(NAME, settings, *kinds)
    config, notes, search, dreaming = (kind(**values) for kind, values in zip(kinds, given, strict=True))
    return Preset(
        name=NAME,
        about="Summarises all but the last 20,000 tokens under five headings, audited; notes are searched by word and meaning.",
        policy=OpenClawPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(OpenClawMemory, settings=notes, search=search, dreaming=dreaming),
        maintenance=_KEEPS_ALL if dreaming.dreaming else None,
        settings=in_force(config, notes, search, dreaming),
    )
