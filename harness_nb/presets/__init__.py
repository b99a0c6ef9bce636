"""Presets: a policy, a memory design and settings that imitate one system, or are our default.

The only layer that imports policies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, overload

from harness_nb.errors import ConfigError
from harness_nb.presets.own import Maker, Registered, checked_name, maker_of
from harness_nb.presets.preset import Preset

__all__ = ["Preset", "get", "names", "register", "unregister"]

_NAMES = (
    "agentscope",
    "eney",
    "gemini-cli",
    "harness",
    "hermes",
    "nanobot",
    "openclaw",
    "opencode",
    "openharness",
    "personal",
    "picoclaw",
)
"""All presets; each is made by `make` in the module of its name, with `_` for `-`, which is loaded on first use."""

_OWN: dict[str, Maker] = {}
"""What was registered in this process, by name."""


def names() -> list[str]:
    """Names of all presets, those that were registered among them, in alphabetical order."""
    return sorted((*_NAMES, *_OWN))


def get(name: str, *, window: int | None = None, **settings: Any) -> Preset:
    """A preset by name.

    Args:
        name: One of `names()`.
        window: The context window in tokens, for any model but one whose window is given with the agent; None for what the
            model states or the preset assumes.
        **settings: Any setting of the preset, to replace its default.

    Raises:
        ConfigError: The name or a setting is unknown, or a value is not valid.
    """
    if name not in _NAMES and name not in _OWN:
        from difflib import get_close_matches

        near = get_close_matches(str(name), names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(names())}."
        raise ConfigError(f"There is no preset {name!r}.", hint, subject=name)
    made: Preset = (_OWN.get(name) or _built_in(name))(**settings)
    return made if window is None else replace(made, window=window)


def _built_in(name: str) -> Maker:
    make: Maker = import_module(f"{__name__}.{name.replace('-', '_')}").make
    return make


@overload
def register(name: str) -> Callable[[Registered], Registered]: ...
@overload
def register(name: str, policy: Registered) -> Registered: ...
def register(name: str, policy: Registered | None = None) -> Registered | Callable[[Registered], Registered]:
    """Gives a policy of one's own a name, under which it is a preset at once: for agents, magics, replays and the tuner.

    It comes with the durable memory of the preset `harness`. A name that was registered before now means the new one, so a
    cell can be run again. Without a policy, the call is a decorator.

    Args:
        name: One word.
        policy: A subclass of `CompactionPolicy` or a function `plan(view)`, whose further parameters are its settings; an
            object of such a class; or a whole preset.

    Returns:
        What was registered.

    Raises:
        ConfigError: The name is no word or that of a preset that is there, or there is no policy in what was given.
    """
    key = checked_name(name, _NAMES)
    if policy is None:
        return lambda given: register(key, given)
    make = maker_of(key, policy)
    make()  # what fails fails here
    _OWN[key] = make
    return policy


def unregister(name: str) -> None:
    """Takes back what was registered under a name.

    Raises:
        ConfigError: Nothing was.
    """
    if name not in _OWN:
        remedy = f"Use one of {', '.join(sorted(_OWN))}." if _OWN else "Nothing is registered."
        raise ConfigError(f"{name!r} is not registered.", remedy, subject=name)
    del _OWN[name]
