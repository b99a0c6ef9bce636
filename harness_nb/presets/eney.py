"""Preset `eney`: three tiers of pressure without a model, and topic files that nothing but tools writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness_nb.core.config import MemoryConfig, plain_repr, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.memory.designs.eney import EneyMemory, EneyMemoryConfig
from harness_nb.policies.tiers import TiersConfig, TiersPolicy
from harness_nb.presets.preset import Preset, in_force, shared_out

NAME = "eney"

_CLAUDE = re.compile(r"claude|(?<![a-z0-9])(?:opus|sonnet|haiku)(?![a-z0-9])")


@dataclass(frozen=True, kw_only=True, repr=False)
class EneyWindows:
    """The context window that Eney assumes.

    Attributes:
        window_claude: Of Claude models, in tokens (default 200,000).
        window_other: Of every other model, in tokens (default 128,000).
        window_override: A host's own figure, which goes before both; None (the default) for none.
    """

    window_claude: int = 200_000
    window_other: int = 128_000
    window_override: int | None = None

    def __post_init__(self) -> None:
        whole(self, "window_claude", "window_other", least=1)
        if self.window_override is not None:
            whole(self, "window_override", least=1)

    __repr__ = plain_repr

    def of(self, limits: ModelLimits) -> int:
        """The window in tokens by the model's name."""
        if self.window_override is not None:
            return self.window_override
        return self.window_claude if _CLAUDE.search(limits.name.lower()) else self.window_other


def make(**settings: Any) -> Preset:
    """The preset, with any setting of `TiersConfig`, `EneyWindows` and `EneyMemoryConfig`."""
    tiers, windows, notes = shared_out(NAME, settings, TiersConfig, EneyWindows, EneyMemoryConfig)
    config, window, memory = TiersConfig(**tiers), EneyWindows(**windows), EneyMemoryConfig(**notes)
    return Preset(
        name=NAME,
        about="Shortens a result at 75 %, elides all but six messages at 90 %, keeps one request at 95 % of the window.",
        policy=TiersPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(EneyMemory, settings=memory),
        settings=in_force(config, window, memory),
        window_of=window.of,
        window=window.window_override,
    )
