"""What an agent is put together from; everything is checked here, before anything is opened."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness_nb.agent.context_tools import ContextTools
from harness_nb.agent.conversation import Surroundings
from harness_nb.agent.hooks import Hook
from harness_nb.agent.loop import Limits
from harness_nb.agent.permissions import Permissions
from harness_nb.agent.prompt import system_prompt as prompt_of
from harness_nb.agent.runner import runner
from harness_nb.core.clock import Clock
from harness_nb.core.config import (
    CompactionConfig,
    MaintenanceConfig,
    MemoryConfig,
    PinsConfig,
    ToolResultEvictionConfig,
)
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.tokens import Measure, TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError
from harness_nb.memory.design import MemoryDesign
from harness_nb.memory.designs.base import DesignParts
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset
from harness_nb.presets import get as get_preset
from harness_nb.store.workspace import DEFAULT_PATH, Workspace

if TYPE_CHECKING:
    from harness_nb.store.index import MemoryIndex


class FromPreset:
    """Stands for a setting that is the preset's."""

    def __repr__(self) -> str:
        return "<the preset's>"


FROM_PRESET: Final = FromPreset()


@dataclass(frozen=True, kw_only=True)
class Parts:
    """All parts of an agent that stay the same from session to session.

    Attributes:
        name: Name of the agent.
        model: Answers.
        limits: The model's limits as the preset and the user see them.
        preset: Policy and settings.
        workspace: Holds the files.
        index: Searches them.
        design: The durable memory.
        config: Its settings.
        maintenance: When it is put in order in the background, or None.
        pins: What stays word for word through every compaction.
        context_tools: Those with which the model looks after its own context.
        host: What the host of the agent tells policies, such as the open `plan`.
        tools: By name.
        permissions: Who may do what.
        turn_limits: Limits of one turn.
        eviction: When large results go to files, or None.
        measure: Counts tokens.
        own_prompt: The user's system prompt, or None.
        hooks: Called with each event.
    """

    name: str
    model: Model
    limits: ModelLimits
    preset: Preset
    workspace: Workspace
    index: MemoryIndex
    design: MemoryDesign
    config: MemoryConfig
    maintenance: MaintenanceConfig | None
    pins: PinsConfig
    context_tools: ContextTools
    host: dict[str, object]
    tools: Mapping[str, Tool]
    permissions: Permissions
    turn_limits: Limits
    eviction: ToolResultEvictionConfig | None
    measure: Measure
    own_prompt: str | None
    hooks: tuple[Hook, ...]

    @property
    def policy(self) -> CompactionPolicy | None:
        """What compacts, or None."""
        return self.preset.policy

    @property
    def memory_problem(self) -> str:
        """Why the memory can't be injected, or empty."""
        return self.design.injection(self.measure.counter).problem

    def around(self, window: int | None = None) -> tuple[Surroundings, Message | None]:
        """What is sent beside the messages, and the memory block, as they are now.

        Args:
            window: A smaller window that the provider named when it refused a request.
        """
        injection = self.design.injection(self.measure.counter)
        around = replace(self._fixed, host=dict(self.host)) if self.host else self._fixed
        if injection.tokens:
            around = replace(around, memory_tokens=injection.tokens, host={**around.host, "memory": injection.text})
        if window is not None and window < around.model.window:
            around = replace(around, model=replace(around.model, window=window, window_source="server"))
        return around, injection.message

    @functools.cached_property
    def _fixed(self) -> Surroundings:
        """What is sent at every request and stays the same."""
        tools = tuple(self.tools.values())
        system = prompt_of(
            self.own_prompt, tools=self.tools, injects=self.config.inject, flushes=self.config.flush != "never"
        )
        return Surroundings(
            model=self.limits,
            system=system,
            tools=tools,
            system_tokens=self.measure.text(system),
            tool_tokens=self.measure.tools(tools),
        )


def put_together(
    name: str,
    *,
    model: str | Model,
    preset: str | Preset,
    workspace: str | Path | Workspace | None,
    compaction: CompactionConfig | FromPreset | None,
    eviction: ToolResultEvictionConfig | None,
    memory: MemoryConfig | None,
    maintenance: MaintenanceConfig | FromPreset | None,
    pins: PinsConfig | None,
    tools: Iterable[Callable[..., Any] | Tool],
    own_prompt: str | None,
    permissions: Permissions,
    turn_limits: Limits,
    window: int | None,
    clock: Clock | None,
    hooks: Iterable[Hook],
) -> Parts:
    """The parts of an agent from what its user gave; see `HarnessAgent`.

    Raises:
        ConfigError: A setting is wrong; says which.
        StoreError: The workspace can't be used.
    """
    from harness_nb.store.index import MemoryIndex

    called, kind, evicting = _name(name), _preset(preset, compaction), _eviction(eviction)
    answering, limits = _model(model, window, kind)
    place = _workspace(workspace, clock)
    place.ensure()
    config = memory or kind.memory
    index = MemoryIndex.of(place)
    keeping, pinning = _maintenance(maintenance, kind), _pins(pins, kind)
    context_tools = ContextTools(pins=pinning.tool, compaction=_offers_compaction(kind.policy))
    design = kind.design(
        DesignParts(workspace=place, index=index, model=answering, config=config, maintenance=keeping, run=runner.wait)
    )
    return Parts(
        name=called,
        model=answering,
        limits=limits,
        preset=kind,
        workspace=place,
        index=index,
        design=design,
        config=config,
        maintenance=keeping,
        pins=pinning,
        context_tools=context_tools,
        host={},
        tools=_by_name((*design.tools(), *context_tools.tools(), *_tools(tools))),
        permissions=permissions,
        turn_limits=turn_limits,
        eviction=evicting,
        measure=Measure(_counter(answering, limits.name)),
        own_prompt=own_prompt,
        hooks=tuple(hooks),
    )


def _workspace(workspace: str | Path | Workspace | None, clock: Clock | None) -> Workspace:
    if isinstance(workspace, Workspace):
        return workspace
    return Workspace(DEFAULT_PATH if workspace is None else workspace, clock=clock or Clock())


def _name(name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"name={name!r} is no name.", "Give the agent a short name.", subject="name")
    return name.strip()


def _preset(preset: str | Preset, compaction: CompactionConfig | FromPreset | None) -> Preset:
    found = preset if isinstance(preset, Preset) else get_preset(preset)
    if isinstance(compaction, FromPreset):
        return found
    if compaction is not None and not isinstance(compaction, CompactionConfig):
        raise ConfigError(
            f"compaction={compaction!r} is not valid.", "Give a CompactionConfig, or None to switch it off."
        )
    return found.with_compaction(compaction)


def _model(model: str | Model, window: int | None, preset: Preset) -> tuple[Model, ModelLimits]:
    """The model, and its limits: the user's window goes before one given with the preset, that before the model's own."""
    found = resolve(model, **({"window": window} if isinstance(model, str) and window is not None else {}))
    limits = found.limits if window is None else replace(found.limits, window=window, window_source="user")
    return found, preset.limits(limits)


def _eviction(settings: ToolResultEvictionConfig | None) -> ToolResultEvictionConfig | None:
    if settings is not None and not isinstance(settings, ToolResultEvictionConfig):
        raise ConfigError(
            f"tool_result_eviction={settings!r} is not valid.", "Give a ToolResultEvictionConfig, or None."
        )
    return settings


def _maintenance(settings: MaintenanceConfig | FromPreset | None, preset: Preset) -> MaintenanceConfig | None:
    found = preset.maintenance if isinstance(settings, FromPreset) else settings
    if found is not None and not isinstance(found, MaintenanceConfig):
        raise ConfigError(f"maintenance={found!r} is not valid.", "Give a MaintenanceConfig, or None.")
    return found


def _pins(settings: PinsConfig | None, preset: Preset) -> PinsConfig:
    if settings is not None and not isinstance(settings, PinsConfig):
        raise ConfigError(f"pins={settings!r} is not valid.", "Give a PinsConfig, or None for the preset's.")
    return preset.pins if settings is None else settings


def _offers_compaction(policy: CompactionPolicy | None) -> bool:
    """Whether the model may ask for a compaction: the policy says so, and can be asked."""
    return policy is not None and "manual" in policy.hooks and bool(policy.settings.get("compact_tool", False))


def _tools(given: Iterable[Callable[..., Any] | Tool]) -> list[Tool]:
    """The user's tools; a lone function or a name is a list forgotten."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(f"tools={given!r} is no list.", "Give a list of functions: tools=[...].", subject=given)
    return [Tool.of(one) for one in given]


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found:
            raise ConfigError(f"There are two tools named {tool.name!r}.", "Rename one.", subject=tool.name)
        found[tool.name] = tool
    return found


def _counter(model: Model, name: str) -> TokenCounter:
    """The model's own way of counting where it is cheap, else a tokenizer."""
    own: TokenCounter | None = getattr(model, "counter", None)
    if own is not None:
        return own
    from harness_nb.model.tokenizer import counter_for

    return counter_for(name)
