"""Presets: a policy, a memory design and settings that imitate one system, or are our default.

The only layer that imports policies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from harness_nb.errors import ConfigError
from harness_nb.presets.built_in import NAMES
from harness_nb.presets.own import Maker, Registered, checked_name, maker_of
from harness_nb.presets.preset import Preset

if TYPE_CHECKING:
    from harness_nb.presets.comparison import Comparison

__all__ = ["Preset", "compare", "get", "names", "register", "unregister"]

_OWN: dict[str, Maker] = {}
"""What was registered in this process, by name."""


def names() -> list[str]:
    """Names of all presets, those that were registered among them, in alphabetical order."""
    return sorted((*NAMES, *_OWN))


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
    if name not in NAMES and name not in _OWN:
        from difflib import get_close_matches

        near = get_close_matches(str(name), names(), 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(names())}."
        raise ConfigError(f"There is no preset {name!r}.", hint, subject=name)
    made: Preset = (_OWN.get(name) or _built_in(name))(**settings)
    return made if window is None else replace(made, window=window)


def own_maker(name: str) -> Maker | None:
    """What makes the preset that was registered in this process under a name; None for all others."""
    return _OWN.get(name)


def compare(*systems: str) -> Comparison:
    """Systems beside each other: when and where each compacts, what it remembers, its known faults and where that is from.

    Args:
        *systems: Names of presets, with all their variants; by default all there are.

    Returns:
        A table in a notebook and in text; `.df` is a frame with a row for each system and variant.

    Raises:
        ConfigError: A name is unknown.
    """
    from harness_nb.presets.comparison import Comparison

    found = [get(name) for name in systems or names()]
    variants = [(one.name, variant) for one in found for variant in one.variants or ("",)]
    return Comparison(tuple(_variant(*one) for one in variants))


def _variant(name: str, variant: str) -> Preset:
    chosen: dict[str, Any] = {"variant": variant} if variant else {}
    return get(name, **chosen)


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
    key = checked_name(name, NAMES)
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
