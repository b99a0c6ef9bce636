"""Preset `agentscope`: AgentScope's harness to the message, faults included, as documented or as shipped.

Its durable memory is the two layers of the preset `harness`, with their safeguards; what the original does without them
stands in `memory/designs/agentscope_files.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.errors import ConfigError
from harness_nb.policies.agentscope import (
    AgentScopeArguments,
    AgentScopeConfig,
    AgentScopeEviction,
    AgentScopePolicy,
)
from harness_nb.presets.preset import Preset, chosen_variant, in_force, taken

NAME = "agentscope"
VARIANTS = ("as_documented", "as_shipped")

_SHIPPED = {"keeps_shortened": False, "shortens_to_limit": False, "replaces_errors": True, "evicts_to_root": True}
_NESTED = {"truncate_args": AgentScopeArguments, "tool_result_eviction": AgentScopeEviction}


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `as_documented` (default) or `as_shipped`.
        **settings: Any setting of `AgentScopeConfig`; the nested ones also as a mapping.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    given = {**(_SHIPPED if version == "as_shipped" else {}), **taken(NAME, settings, AgentScopeConfig)}
    config = AgentScopeConfig(**{key: _nested(key, value) for key, value in given.items()})
    return Preset(
        name=NAME,
        about="Summarises all but the last 20 messages at 50 messages or 80,000 tokens; facts go to daily logs.",
        policy=AgentScopePolicy(config, name=NAME),
        memory=MemoryConfig(max_injected_tokens=8_000),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config),
    )


def _nested(name: str, value: Any) -> Any:
    if name not in _NESTED or not isinstance(value, Mapping):
        return value
    try:
        return _NESTED[name](**value)
    except TypeError as error:
        raise ConfigError(f"{name}={value!r} is not valid.", f"{error}.", subject=name) from error
