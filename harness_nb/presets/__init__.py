"""Presets: a policy, a memory design and settings that imitate one system, or are our default.

The only layer that imports policies.
"""

from __future__ import annotations

from typing import Any

from harness_nb.errors import ConfigError
from harness_nb.presets import eney, harness
from harness_nb.presets.preset import Preset

__all__ = ["Preset", "get", "names"]

_MAKERS = {eney.NAME: eney.make, harness.NAME: harness.make}


def names() -> list[str]:
    """Names of all presets, in alphabetical order."""
    return sorted(_MAKERS)


def get(name: str, **settings: Any) -> Preset:
    """A preset by name.

    Args:
        name: One of `names()`.
        **settings: Any setting of the preset, to replace its default.

    Raises:
        ConfigError: The name or a setting is unknown, or a value is not valid.
    """
    maker = _MAKERS.get(name)
    if maker is None:
        from difflib import get_close_matches

        near = get_close_matches(str(name), names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(names())}."
        raise ConfigError(f"There is no preset {name!r}.", hint, subject=name)
    return maker(**settings)
