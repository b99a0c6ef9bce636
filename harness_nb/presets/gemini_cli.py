"""Preset `gemini-cli`: a verified snapshot at half of the window; context files in tiers, and a reviewed inbox."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness_nb.core.config import MaintenanceConfig, MemoryConfig, plain_repr, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.memory.designs.gemini_cli.config import GeminiCliMemoryConfig
from harness_nb.memory.designs.gemini_cli.design import GeminiCliMemory
from harness_nb.policies.gemini_cli.config import GeminiCliConfig
from harness_nb.policies.gemini_cli.policy import GeminiCliPolicy
from harness_nb.presets.preset import Preset, in_force, shared_out

NAME = "gemini-cli"

_GEMINI = re.compile(r"(?:^|/)gemini-")
_GEMMA = re.compile(r"(?:^|/)gemma-4-(?:31b|26b-a4b)-it\b")


@dataclass(frozen=True, kw_only=True, repr=False)
class GeminiCliWindows:
    """The context window that Gemini CLI assumes.

    Attributes:
        window_gemini: Of Gemini models, in tokens (default 1,048,576).
        window_gemma: Of its two Gemma 4 models, in tokens (default 256,000).
        window_other: Of every other model, in tokens; None (the default) for what is known of the model. Gemini CLI takes
            1,048,576 for them all, which would let the provider refuse long before the compression acts.
    """

    window_gemini: int = 1_048_576
    window_gemma: int = 256_000
    window_other: int | None = None

    def __post_init__(self) -> None:
        whole(self, "window_gemini", "window_gemma", least=1)
        if self.window_other is not None:
            whole(self, "window_other", least=1)

    __repr__ = plain_repr

    def of(self, limits: ModelLimits) -> int:
        """The window in tokens by the model's name."""
        if _GEMMA.search(limits.name):
            return self.window_gemma
        if _GEMINI.search(limits.name):
            return self.window_gemini
        return limits.window if self.window_other is None else self.window_other


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `GeminiCliConfig`, `GeminiCliWindows` and `GeminiCliMemoryConfig`."""
    given, windows, notes = shared_out(NAME, settings, GeminiCliConfig, GeminiCliWindows, GeminiCliMemoryConfig)
    config, window, memory = GeminiCliConfig(**given), GeminiCliWindows(**windows), GeminiCliMemoryConfig(**notes)
    kept_days = memory.session_retention_days if memory.session_retention_enabled else None
    return Preset(
        name=NAME,
        about="Makes a verified snapshot of all but 30 % at half of the window; masks tool outputs behind the newest 50,000.",
        policy=GeminiCliPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(GeminiCliMemory, settings=memory),
        maintenance=MaintenanceConfig(session_retention_days=kept_days),
        settings=in_force(config, window, memory),
        window_of=window.of,
    )
