"""Presets: a policy, a memory design and settings that imitate one system, or are our default.

The only layer that imports policies.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from harness_nb.errors import ConfigError
from harness_nb.presets.preset import Preset

__all__ = ["Preset", "get", "names"]

_NAMES = ("agentscope", "eney", "gemini-cli", "harness", "hermes", "nanobot", "openclaw", "opencode", "picoclaw")
"""All presets; each is made by `make` in the module of its name, with `_` for `-`, which is loaded on first use."""


def names() -> list[str]:
    """Names of all presets, in alphabetical order."""
    return sorted(_NAMES)


def get(name: str, **settings: Any) -> Preset:
    """A preset by name.

    Args:
        name: One of `names()`.
        **settings: Any setting of the preset, to replace its default.

    Raises:
        ConfigError: The name or a setting is unknown, or a value is not valid.
    """
    if name not in _NAMES:
        from difflib import get_close_matches

        near = get_close_matches(str(name), names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(names())}."
        raise ConfigError(f"There is no preset {name!r}.", hint, subject=name)
    made: Preset = import_module(f"{__name__}.{name.replace('-', '_')}").make(**settings)
    return made
