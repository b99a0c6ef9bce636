"""What a preset is, and how one is found and set up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness_nb.core.config import CompactionConfig, MaintenanceConfig, MemoryConfig, PinsConfig, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError
from harness_nb.memory.design import MemoryDesign, TwoLayers
from harness_nb.memory.designs.base import DesignParts
from harness_nb.policies.harness import HarnessPolicy

DesignMaker = Callable[[DesignParts], MemoryDesign]
"""Makes the durable memory of an agent."""


def two_layers(parts: DesignParts) -> MemoryDesign:
    """The default: daily logs, and MEMORY.md made of them."""
    return TwoLayers(
        parts.workspace, parts.index, parts.model, parts.config, maintenance=parts.maintenance, run=parts.run
    )


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A policy, a memory design and settings that belong together.

    Attributes:
        name: As users name it.
        about: What it does, in one sentence.
        policy: What compacts; None switches compaction off.
        memory: What the durable memory does, in the settings that all designs share.
        design: Makes the durable memory.
        maintenance: When it is put in order in the background; None never.
        pins: What stays word for word beside what the user pins; by default nothing is added to the system.
        window: A window that the user gave with the preset, in tokens, or None.
        variant: Which version of the system, or empty where there is one.
        variants: All of its versions, the default first.
        settings: The settings in force, by name.
        window_of: The context window in tokens that the system assumes for a model's limits.
    """

    name: str
    about: str
    policy: CompactionPolicy | None
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    design: DesignMaker = two_layers
    maintenance: MaintenanceConfig | None = None
    pins: PinsConfig = field(default_factory=lambda: PinsConfig(rule=False, tool=False))
    window: int | None = None
    variant: str = ""
    variants: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    window_of: Callable[[ModelLimits], int] = lambda limits: limits.window

    def __post_init__(self) -> None:
        if self.window is not None:
            whole(self, "window", least=1)

    def limits(self, limits: ModelLimits) -> ModelLimits:
        """The model's limits as this system sees them.

        A window that the user gave for the model holds, then one that the user gave with the preset, though never above what
        a server takes, then what the model or its server states, and then what the system assumes.
        """
        stated = limits.window_source
        if stated == "user" or (stated in ("server", "model") and self.window is None):
            return limits
        window = self.window or self.window_of(limits)
        if window == limits.window or (stated == "server" and window > limits.window):
            return limits
        return replace(limits, window=window, window_source=f"preset {self.name}")

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
    return shared_out(name, given, settings)[0]


def shared_out(name: str, given: Mapping[str, Any], *settings: type) -> tuple[dict[str, Any], ...]:
    """Gives each of some settings classes those of a preset's settings that are its own.

    Args:
        name: Name of the preset.
        given: Settings by name.
        *settings: Frozen dataclasses with fields of different names.

    Raises:
        ConfigError: One is unknown; names the nearest.
    """
    known = [{one.name for one in fields(one)} for one in settings]
    everything = [one.name for cls in settings for one in fields(cls)]
    for setting in given:
        if setting not in everything:
            from difflib import get_close_matches

            near = get_close_matches(setting, everything, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(everything)}."
            raise ConfigError(f"Preset {name!r} has no setting {setting!r}.", hint, subject=setting)
    return tuple({key: value for key, value in given.items() if key in names} for names in known)


def in_force(*settings: Any) -> dict[str, Any]:
    """All settings of some settings records, by name."""
    return {one.name: getattr(record, one.name) for record in settings for one in fields(record)}


def chosen_variant(name: str, variant: str | None, variants: tuple[str, ...]) -> str:
    """The version that is meant; None is the first.

    Raises:
        ConfigError: There is no such version.
    """
    if variant is None:
        return variants[0]
    if variant not in variants:
        raise ConfigError(
            f"Preset {name!r} has no variant {variant!r}.", f"Use one of {', '.join(variants)}.", subject="variant"
        )
    return variant
