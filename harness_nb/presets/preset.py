"""What a preset is, and how one is found and set up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness_nb.core.config import CompactionConfig, MemoryConfig
from harness_nb.core.limits import ModelLimits
from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError
from harness_nb.policies.harness import HarnessPolicy


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A policy, a memory design and settings that belong together.

    Attributes:
        name: As users name it.
        about: What it does, in one sentence.
        policy: What compacts; None switches compaction off.
        memory: What the durable memory does.
        settings: The settings in force, by name.
        window_of: The context window in tokens that the system assumes for a model's limits.
    """

    name: str
    about: str
    policy: CompactionPolicy | None
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    settings: Mapping[str, Any] = field(default_factory=dict)
    window_of: Callable[[ModelLimits], int] = lambda limits: limits.window

    def limits(self, limits: ModelLimits) -> ModelLimits:
        """The model's limits as this system sees them; a window that the user, a server or a model itself states holds."""
        if limits.window_source in ("user", "server", "model"):
            return limits
        window = self.window_of(limits)
        return (
            limits if window == limits.window else replace(limits, window=window, window_source=f"preset {self.name}")
        )

    def with_compaction(self, compaction: CompactionConfig | None) -> Preset:
        """The preset with its compaction replaced by the user's own; None switches it off."""
        policy = None if compaction is None else HarnessPolicy(compaction)
        settings = {one.name: getattr(compaction, one.name) for one in fields(compaction)} if compaction else {}
        return replace(self, policy=policy, settings=settings)

    def __repr__(self) -> str:
        """The name."""
        return f"Preset({self.name!r})"


def taken(name: str, given: Mapping[str, Any], settings: type) -> dict[str, Any]:
    """Checks that a preset knows the settings it is given.

    Raises:
        ConfigError: One is unknown; names the nearest.
    """
    known = [one.name for one in fields(settings)]
    for setting in given:
        if setting not in known:
            from difflib import get_close_matches

            near = get_close_matches(setting, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
            raise ConfigError(f"Preset {name!r} has no setting {setting!r}.", hint, subject=setting)
    return dict(given)
