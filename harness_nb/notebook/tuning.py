"""Presets made again with other settings, and the code that makes the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness_nb import presets
from harness_nb.presets import Preset

_KEEP = re.compile(r"(?:\w+_)?keep_messages|protect_last\w*")


def remade(preset: Preset, **changes: Any) -> Preset:
    """A preset with some settings changed.

    Args:
        preset: The preset; its own settings hold for what is not changed.
        **changes: Settings by name.

    Raises:
        ConfigError: A setting is unknown or a value is not valid.
    """
    kind, variant = kind_of(preset), _variant(preset.variant)
    wanted = {**preset.settings, **changes}
    plain = presets.get(kind, **variant).settings
    return presets.get(kind, **variant, **{name: value for name, value in wanted.items() if value != plain.get(name)})


def kind_of(preset: Preset) -> str:
    """Name of the preset whose policy it has; an agent's own compaction is that of `harness`."""
    return preset.policy.name if preset.policy is not None and preset.policy.name in presets.names() else preset.name


def keep_setting(preset: Preset) -> str:
    """Name of the setting that says how many messages stay, or empty."""
    if preset.policy is None or preset.settings.get("keep_tokens"):
        return ""
    whole = [name for name, value in preset.settings.items() if type(value) is int]
    return next((name for name in whole if _KEEP.fullmatch(name)), "")


def _variant(name: str) -> dict[str, Any]:
    """The setting that chooses a variant, for systems that have some."""
    return {"variant": name} if name else {}


def changed_settings(preset: Preset) -> Mapping[str, Any]:
    """The settings that are not as the preset has them by itself."""
    plain = presets.get(kind_of(preset), **_variant(preset.variant)).settings
    return {name: value for name, value in preset.settings.items() if value != plain.get(name)}


def preset_code(preset: Preset) -> str:
    """A call that makes the preset, such as `presets.get("harness", keep_messages=12)`; empty for a policy of one's own."""
    if kind_of(preset) not in presets.names():
        return ""
    parts = [repr(kind_of(preset)).replace("'", '"')]
    parts += [f'variant="{preset.variant}"'] if preset.variant and preset.variant != preset.variants[0] else []
    parts += [f"{name}={literal(value)}" for name, value in changed_settings(preset).items()]
    return f"presets.get({', '.join(parts)})"


def literal(value: object) -> str:
    """A value as it is written in code; large whole numbers in groups of three digits."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is int:
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    return repr(value)
