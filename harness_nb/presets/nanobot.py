"""Preset `nanobot`: old turns become facts in an archive at the budget of the window, and a scheduled run rewrites files."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.memory.designs.nanobot.config import NanobotMemoryConfig
from harness_nb.memory.designs.nanobot.design import NanobotMemory
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.policy import NanobotPolicy
from harness_nb.policies.nanobot.record import NanobotRecord
from harness_nb.policies.nanobot.sending import Sending
from harness_nb.policies.nanobot.wording import has_text, raw_entry, rendered
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

__all__ = ["NAME", "NanobotRecord", "Sending", "has_text", "make", "memory_settings", "raw_entry", "rendered"]

NAME = "nanobot"
VARIANTS = ("july", "head")

_HEAD: dict[str, Any] = {
    "replay_max_messages": 0,
    "replay_min_messages": 8,
    "session_file_cap": 0,
    "request_form": "prefix",
    "strict_replies": True,
    "idle_drops": False,
    "shows_summary_once": True,
    "estimates_summary_line": True,
    "drops_repeated_results": True,
}
_HEAD_MEMORY: dict[str, Any] = {
    "prompt_shows_once": True,
    "shows_blank_files": False,
    "keeps_unread": True,
    "dream_preview_chars": 1_000,
    "dream_needs_change": False,
    "dream_writes_whole": True,
}
"""What changed from July 20 to August 23, 2026."""

_DREAM_INTERVAL = timedelta(hours=2)


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `july` (default) or `head`.
        **settings: Any setting of `NanobotConfig` and `NanobotMemoryConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    given, notes = shared_out(NAME, settings, NanobotConfig, NanobotMemoryConfig)
    config = NanobotConfig(**{**(_HEAD if version == "head" else {}), **given})
    memory = memory_settings(version, **notes)
    return Preset(
        name=NAME,
        about="Archives old turns as facts at the budget, down to half of it; a scheduled run turns the archive into files.",
        policy=NanobotPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(NanobotMemory, settings=memory),
        maintenance=MaintenanceConfig(interval=_DREAM_INTERVAL) if memory.dream_enabled else None,
        variant=version,
        variants=VARIANTS,
        settings=in_force(config, memory),
    )


def memory_settings(variant: str, **settings: Any) -> NanobotMemoryConfig:
    """The settings of a version's memory.

    Args:
        variant: `july` or `head`.
        **settings: Any of `NanobotMemoryConfig`, to replace its value.
    """
    return NanobotMemoryConfig(**{**(_HEAD_MEMORY if variant == "head" else {}), **settings})
