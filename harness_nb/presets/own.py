"""Policies of one's own, registered under a name, so that they can be used wherever the name of a preset can."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from harness_nb.core.config import MaintenanceConfig, PinsConfig
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy, FunctionPolicy
from harness_nb.errors import ConfigError
from harness_nb.presets.preset import Preset

PolicyFunction = Callable[..., Plan]
"""A function `plan(view)`; further parameters, each with a default, are its settings."""

Registrable = type[CompactionPolicy] | CompactionPolicy | PolicyFunction | Preset
Registered = TypeVar("Registered", bound=Registrable)
Maker = Callable[..., Preset]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def checked_name(name: object, built_in: tuple[str, ...]) -> str:
    """A name under which something may be registered.

    Raises:
        ConfigError: It is no word, or a preset that is there has it.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name for a preset.", "Use one word of letters, digits, '-', '_' and '.'.", subject="name"
        )
    if name in built_in:
        raise ConfigError(f"There is a preset {name!r} already.", "Choose another name for yours.", subject=name)
    return name


def maker_of(name: str, policy: Registrable) -> Maker:
    """A function that makes the preset around somebody's policy from its settings.

    Args:
        name: Under which it is registered.
        policy: A subclass of `CompactionPolicy`, an object of one, a function `plan(view)`, or a whole preset.

    Raises:
        ConfigError: It is none of these, or a parameter has no default.
    """
    if isinstance(policy, Preset | CompactionPolicy):
        return partial(_made, name, {}, lambda: policy)
    if isinstance(policy, type) and issubclass(policy, CompactionPolicy):
        if policy.plan is CompactionPolicy.plan:
            raise ConfigError(f"{policy.__name__} has no plan(view).", "Define `def plan(self, view)`.", subject=name)
        return partial(_made, name, _settings(name, policy), policy)
    if inspect.isroutine(policy) and not inspect.iscoroutinefunction(policy):
        return partial(_made, name, _settings(name, policy, given=1), _of_function(policy))
    raise ConfigError(
        f"{policy!r} is no policy.",
        "Give a subclass of CompactionPolicy, a function plan(view) that returns a Plan, or a preset.",
        subject=name,
    )


def _of_function(function: PolicyFunction) -> Callable[..., CompactionPolicy]:
    def make(**settings: Any) -> CompactionPolicy:
        policy = FunctionPolicy(partial(function, **settings))
        policy.__doc__ = function.__doc__
        return policy

    return make


def _settings(name: str, policy: Callable[..., Any], given: int = 0) -> dict[str, Any]:
    """The settings that a class or function takes, with their defaults.

    Args:
        name: Of the preset.
        policy: The class or function.
        given: How many of its first parameters are no settings.
    """
    found = list(inspect.signature(policy).parameters.values())
    if len(found) < given:
        raise ConfigError(f"The policy {name!r} takes no view.", "Define it as `def plan(view)`.", subject=name)
    own = [one for one in found[given:] if one.kind in _BY_KEYWORD]
    missing = [one.name for one in own if one.default is one.empty]
    if missing:
        remedy = "Give each a default; it is a setting of the preset then."
        raise ConfigError(f"The policy {name!r} can't be made without {', '.join(missing)}.", remedy, subject=name)
    return {one.name: one.default for one in own}


def _made(
    name: str, defaults: Mapping[str, Any], make: Callable[..., CompactionPolicy | Preset], **settings: Any
) -> Preset:
    """The preset, with some of its settings changed."""
    for setting in settings:
        if setting not in defaults:
            hint = f"It has {', '.join(defaults)}." if defaults else "It has none."
            raise ConfigError(f"Preset {name!r} has no setting {setting!r}.", hint, subject=setting)
    in_force = {**defaults, **settings}
    made = make(**in_force)
    if isinstance(made, Preset):
        return _renamed(made, name)
    policy = copy.copy(made)
    object.__setattr__(policy, "name", name)  # as registered, also where the class is a frozen dataclass
    return Preset(
        name=name,
        about=_about(made),
        policy=policy,
        maintenance=MaintenanceConfig(),
        pins=PinsConfig(),
        settings={**policy.settings, **in_force},
    )


def _renamed(preset: Preset, name: str) -> Preset:
    found = copy.copy(preset)
    object.__setattr__(found, "name", name)
    return found


def _about(policy: CompactionPolicy) -> str:
    """The first sentence of the policy's own docstring."""
    own = policy.__doc__ if policy.__doc__ not in (CompactionPolicy.__doc__, FunctionPolicy.__doc__) else None
    line = inspect.cleandoc(own or "").partition("\n")[0].strip()
    return f"{line.rstrip('.')}." if line else "A policy of one's own, with the durable memory of the preset 'harness'."
