"""Preset `openclaw`: an audited summary with excerpts above 20,000 kept tokens, and Markdown notes with hybrid search."""

from __future__ import annotations

from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.policy import OpenClawPolicy
from harness_nb.presets.preset import Preset, in_force, shared_out

NAME = "openclaw"


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `OpenClawConfig`."""
    (given,) = shared_out(NAME, settings, OpenClawConfig)
    config = OpenClawConfig(**given)
    return Preset(
        name=NAME,
        about="Summarises all but the last 20,000 tokens under five headings, audited; daily notes are searched by words and meaning.",
        policy=OpenClawPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        settings=in_force(config),
    )
