"""The record of facts, and how that of a preset is found."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from harness_nb.presets.built_in import NAMES
from harness_nb.presets.preset import Preset


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a system, in words.

    Attributes:
        trigger: When it compacts.
        cut: Where it cuts.
        kept: What stays word for word.
        model_calls: What it asks a model for.
        holds: What its durable memory holds.
        injected: What of that stands in the prompt.
        review: Who looks at a change of the memory before it is made.
        search: How the memory is searched.
        defaults: Names of the settings that say most; the values are the preset's own.
        known_faults: What is known to go wrong in the system as it is.
        source: Where the facts are from.
        version: Of the system.
    """

    trigger: str
    cut: str = ""
    kept: str = ""
    model_calls: str = ""
    holds: str = ""
    injected: str = ""
    review: str = ""
    search: str = ""
    defaults: tuple[str, ...] = ()
    known_faults: tuple[str, ...] = ()
    source: str = ""
    version: str = ""


def facts_of(preset: Preset) -> Facts:
    """The facts of a preset's system and variant; of a policy of one's own what it says of itself."""
    if preset.name not in NAMES:
        return Facts(trigger=preset.about, defaults=tuple(preset.settings), source="registered in this process")
    found: dict[str, Facts] = import_module(f"harness_nb.presets.facts.{preset.name.replace('-', '_')}").FACTS
    return found[preset.variant]
