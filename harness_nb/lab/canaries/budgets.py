"""Budgets: how a policy is held to a size, and whether it can be.

Nothing is cut behind a policy's back. A policy has one setting that says how much it leaves; the largest value is looked
for at which every round ends within the budget. That is `keep_tokens` or `preserve_fraction` where a preset has it, and the
context window that the policy is told where it has neither. A policy that stays above the budget with every value is shown
as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness_nb import presets
from harness_nb.core.limits import ModelLimits
from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError
from harness_nb.lab.canaries.rounds import Round
from harness_nb.model.windows import limits_of
from harness_nb.presets import Preset

Given = str | Preset | CompactionPolicy
Play = Callable[[CompactionPolicy, ModelLimits], tuple[Round, ...]]

KEPT_SHARES = (1.0, 0.85, 0.7, 0.5, 0.35, 0.2, 0.1, 0.03)
"""Values of `keep_tokens` that are tried, as parts of the budget."""

PRESERVED = (0.3, 0.2, 0.14, 0.1, 0.07, 0.05, 0.03, 0.01)
"""Values of `preserve_fraction` that are tried."""

WINDOW_FACTORS = (16.0, 12.0, 8.0, 6.0, 4.0, 3.0, 2.25, 1.75, 1.4, 1.15, 1.0)
"""Windows that are tried, as multiples of the budget; a policy that may fill a sixteenth of its window fits the first."""

MOST_CALLS = 60
"""Model calls in one round above which a smaller value is not tried: the policy is broken up, not held."""

TRIES = 5
"""How often the setting found with assumed replies is lowered when real ones come out longer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A policy with one value of the setting that holds it.

    Attributes:
        said: The setting and its value, in words.
        policy: The policy.
        limits: The model's limits as it is told them.
    """

    said: str
    policy: CompactionPolicy
    limits: ModelLimits


@dataclass(frozen=True, slots=True)
class Held:
    """How a policy fared under a budget.

    Attributes:
        setting: What it was held by, in words; where it was not held, with what it came nearest.
        is_held: Whether every round ended within the budget.
        rounds: The rounds.
    """

    setting: str
    is_held: bool
    rounds: tuple[Round, ...]

    @property
    def largest(self) -> int:
        """Most tokens that a round left."""
        return max(one.tokens_after for one in self.rounds)


def name_of(given: Given) -> str:
    """A policy's name, with the variant where its preset has several."""
    if isinstance(given, CompactionPolicy):
        return given.name
    preset = presets.get(given) if isinstance(given, str) else given
    return f"{preset.name} {preset.variant}".strip()


def held(given: Given, budget: int, model: str, *, rehearse: Play, play: Play) -> Held:
    """Holds a policy to a budget.

    Args:
        given: The policy.
        budget: Most tokens that a list may have after a round.
        model: Name of the recorded model, for its window.
        rehearse: Plays all rounds on assumed replies; finds the setting.
        play: Plays them with the replies that count.

    Raises:
        ConfigError: The preset has no compaction.
    """
    settings = list(_settings(given, budget, model))
    if not settings:
        raise ConfigError(f"{name_of(given)!r} has no compaction.", "Give a preset that compacts.", subject=given)
    found: list[Held] = []
    for setting in _promising(settings, budget, rehearse):
        rounds = play(setting.policy, setting.limits)
        found.append(Held(setting.said, max(one.tokens_after for one in rounds) <= budget, rounds))
        if found[-1].is_held or len(found) > TRIES:
            break
    return min(found, key=lambda one: (not one.is_held, one.largest))


def _promising(settings: list[Setting], budget: int, rehearse: Play) -> Iterator[Setting]:
    """The settings from the first on that fits on assumed replies; where none does, the one that comes nearest."""
    sizes: list[tuple[int, ...]] = []
    for at, setting in enumerate(settings):
        rounds = rehearse(setting.policy, setting.limits)
        sizes.append(tuple(one.tokens_after for one in rounds))
        if max(sizes[-1]) <= budget:
            yield from settings[at:]
            return
        if max(one.model_calls for one in rounds) > MOST_CALLS:
            break
    yield settings[min(range(len(sizes)), key=lambda at: max(sizes[at]))]


def _settings(given: Given, budget: int, model: str) -> Iterator[Setting]:
    """The policy with each value of its setting, the largest first; a value that it refuses is passed over."""
    preset = presets.get(given) if isinstance(given, str) else given
    if isinstance(preset, Preset) and "keep_tokens" in preset.settings:
        values = [max(1, round(budget * share)) for share in KEPT_SHARES]
        yield from _by_setting(preset, "keep_tokens", values, model)
    elif isinstance(preset, Preset) and "preserve_fraction" in preset.settings:
        yield from _by_setting(preset, "preserve_fraction", PRESERVED, model)
    else:
        yield from _by_window(preset, [max(1, round(budget * factor)) for factor in WINDOW_FACTORS], model)


def _by_setting(preset: Preset, name: str, values: Iterable[float], model: str) -> Iterator[Setting]:
    variant = {"variant": preset.variant} if preset.variants else {}
    for value in values:
        settings: dict[str, Any] = {**preset.settings, **variant, name: value}
        try:
            changed = presets.get(preset.name, window=preset.window, **settings)
        except ConfigError:
            continue
        if changed.policy is not None:
            yield Setting(f"{name} {value:,}", changed.policy, changed.limits(limits_of(model)))


def _by_window(given: Preset | CompactionPolicy, windows: Iterable[int], model: str) -> Iterator[Setting]:
    for window in windows:
        limits = limits_of(model, window=window)
        if isinstance(given, CompactionPolicy):
            yield Setting(f"window {window:,}", given, limits)
        elif given.policy is not None:
            yield Setting(f"window {window:,}", given.policy, given.limits(limits))
