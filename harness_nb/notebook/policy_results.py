"""What `%context` and `%policy` answer with: thresholds, the course, presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.plan import Pressure
from harness_nb.notebook.results import Shown, value_words
from harness_nb.notebook.tuning import preset_code
from harness_nb.presets import Preset
from harness_nb.render.card import Block, Card, Pre, Table
from harness_nb.render.pressure import PressureModel, Threshold, bare_model, course_points
from harness_nb.render.pressure_view import course_drawing, threshold_table
from harness_nb.render.text import count, short

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class Thresholds(Shown):
    """Where a policy acts.

    Attributes:
        pressure: How full the context is, as the policy measures it.
    """

    pressure: Pressure

    def __repr__(self) -> str:
        return f"Thresholds({', '.join(f'{one.name}: {one.at:,} {one.unit}' for one in self._model.thresholds)})"

    @property
    def _model(self) -> PressureModel:
        return bare_model(self.pressure)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each threshold."""
        return [_threshold_record(one) for one in self._model.thresholds]

    @property
    def df(self) -> DataFrame:
        """One row a threshold."""
        from harness_nb.frames import thresholds_frame

        return thresholds_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        model = self._model
        if not model.thresholds:
            return Card("Thresholds", f"{model.line}. The policy has none.")
        return Card("Thresholds", f"{model.line}.", (threshold_table(model, caption=""),))


def _threshold_record(one: Threshold) -> dict[str, Any]:
    names = ("name", "at", "unit", "value", "is_reached", "action")
    return {name: getattr(one, name) for name in names}


@dataclass(frozen=True, repr=False)
class Course(Shown):
    """Sizes of the model input over a session.

    Attributes:
        points: (turn, step, tokens, window, mark or None), in order.
    """

    points: Sequence[tuple[int, int, int, int, str | None]]

    def __repr__(self) -> str:
        return f"Course({count(len(self.points), 'point')})"

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each point."""
        names = ("turn", "step", "tokens", "window", "mark")
        return [dict(zip(names, point, strict=True)) for point in self.points]

    @property
    def df(self) -> DataFrame:
        """One row a point."""
        from harness_nb.frames import course_frame

        return course_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        if not self.points:
            return Card("Course over the session", "nothing has been sent yet")
        last = self.points[-1]
        model = PressureModel(tokens=last[2], window=last[3], course=course_points(self.points))
        peak = max(point[2] for point in self.points)
        line = f"{count(len(self.points), 'point')}, now {short(last[2])} of {short(last[3])} tokens, highest {short(peak)}"
        rows = [(turn, step, tokens, mark or "") for turn, step, tokens, _, mark in self.points[-20:]]
        blocks: list[Block] = [course_drawing(model)] if len(self.points) > 1 else []
        blocks.append(
            Table.of(("turn", "step", "tokens", "what happened"), rows, caption="The last points", is_open=False)
        )
        return Card("Course", line, tuple(blocks))


@dataclass(frozen=True, repr=False)
class PresetList(Shown):
    """Presets.

    Attributes:
        presets: The presets.
        in_use: Name of the one that the agent in use has, or empty.
    """

    presets: tuple[Preset, ...]
    in_use: str = ""

    def __repr__(self) -> str:
        return f"PresetList({', '.join(preset.name for preset in self.presets)})"

    def __len__(self) -> int:
        return len(self.presets)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each preset."""
        return [
            {"name": one.name, "about": one.about, "variants": one.variants, "is_in_use": one.name == self.in_use}
            for one in self.presets
        ]

    @property
    def df(self) -> DataFrame:
        """One row a preset."""
        from harness_nb.frames import presets_frame

        return presets_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        rows = [
            (one.name, one.about, ", ".join(one.variants), "in use" if one.name == self.in_use else "")
            for one in self.presets
        ]
        table = Table.of(("preset", "what it does", "variants", ""), rows, noun="preset", code=frozenset({"preset"}))
        return Card("Presets", count(len(rows), "preset"), (table,), ("More of one: %policy show NAME.",))


@dataclass(frozen=True, repr=False)
class PresetShown(Shown):
    """One preset with its settings.

    Attributes:
        preset: The preset.
    """

    preset: Preset

    def __repr__(self) -> str:
        return f"PresetShown({preset_code(self.preset)})"

    @property
    def records(self) -> list[dict[str, str]]:
        """A mapping for each setting: name, value."""
        return [{"name": name, "value": value_words(value)} for name, value in self.preset.settings.items()]

    @property
    def df(self) -> DataFrame:
        """One row a setting."""
        from harness_nb.frames import status_frame

        return status_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        preset = self.preset
        rows = [(record["name"], record["value"]) for record in self.records]
        table = Table.of(("setting", "value"), rows, most=60, noun="setting", code=frozenset({"setting"}))
        variants = (f"Variants: {', '.join(preset.variants)}; this is {preset.variant}.",) if preset.variants else ()
        code = Pre(preset_code(preset), caption="In Python")
        return Card(f"Preset {preset.name}", preset.about, (table, code), variants)
