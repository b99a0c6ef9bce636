"""Preset `nanobot`: old turns become facts in an archive at the budget of the window, and a scheduled run rewrites files."""

from __future__ import annotations

from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.policy import NanobotPolicy
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

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
    "spares_newest": 1,
    "drops_repeated_results": True,
}
"""What changed from July 20 to August 23, 2026."""


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `july` (default) or `head`.
        **settings: Any setting of `NanobotConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    (given,) = shared_out(NAME, settings, NanobotConfig)
    config = NanobotConfig(**{**(_HEAD if version == "head" else {}), **given})
    return Preset(
        name=NAME,
        about="Archives old turns as facts at the budget, down to half of it; a scheduled run turns the archive into files.",
        policy=NanobotPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config),
    )
