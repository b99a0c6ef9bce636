"""The tuner: sliders for the settings of policies over a conversation; strip, course and figures follow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ipywidgets

from harness_nb import presets
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.tokens import Measure
from harness_nb.lab.compare import Comparison, transcript_of
from harness_nb.lab.run import Replay
from harness_nb.notebook.tuning import keep_setting, remade
from harness_nb.notebook.widgets.base import HarnessWidget, close_all, replace_children, row
from harness_nb.notebook.widgets.column import Attempts, Trial
from harness_nb.notebook.widgets.controls import control, folded, tunable, value_of
from harness_nb.notebook.widgets.heat import HeatMap
from harness_nb.notebook.widgets.pointer import Pointer
from harness_nb.notebook.widgets.scenes import as_preset
from harness_nb.presets import Preset
from harness_nb.render.card import Card, card_html
from harness_nb.render.cutoff_view import reading_card
from harness_nb.render.text import count, short
from harness_nb.render.tuner import Tuned, TunerModel, metrics_table, tuned_card, tuned_words, tuner_card

if TYPE_CHECKING:
    from pandas import DataFrame

DEFAULT_POLICY = "harness"
NONE = -1


class TunerWidget(HarnessWidget):
    """Policies over a conversation, with a control for each setting. No model is asked; replies are assumed.

    Args:
        source: A transcript, a replay or an agent.
        *policies: Names of presets, presets or policies, side by side; `harness` by default.
        window: Context window in tokens; by default that of the recorded model.

    Attributes:
        columns: A policy each.
        model: What is shown, a plain record.

    Raises:
        ConfigError: A preset is unknown, or the window is not valid.
    """

    def __init__(self, source: Any, *policies: str | Preset | CompactionPolicy, window: int | None = None) -> None:
        self.transcript = transcript_of(source)
        self.given_window = window
        self.measure: Measure | None = None
        self._head = ipywidgets.HTML()
        self._metrics = ipywidgets.HTML()
        self._reading = ipywidgets.HTML()
        self.columns = [
            Column(self, number, as_preset(one)) for number, one in enumerate(policies or (DEFAULT_POLICY,))
        ]
        side_by_side = ipywidgets.HBox(
            self.columns, layout=ipywidgets.Layout(flex_flow="row wrap", align_items="flex-start")
        )
        self.window = ipywidgets.BoundedIntText(
            description="window", min=1, max=100_000_000, value=self._first_window(), continuous_update=False
        )
        self.block = ipywidgets.BoundedIntText(
            value=NONE, min=NONE, max=len(self.transcript) - 1, description="read block",
            tooltip="position in the strip; -1 reads none", layout=ipywidgets.Layout(width="160px"),
        )  # fmt: skip
        controls = row(self.window, self.block)
        parts = [self._head, side_by_side, Pointer(self._pointed, self._chosen), self._metrics, controls, self._reading]
        super().__init__(source, parts)
        self.on(self.window, self._window_changed)
        self.on(self.block, lambda _: self.show())
        self.show()

    def _first_window(self) -> int:
        run = self.columns[0].run
        return run.window if run is not None else self.given_window or 128_000

    # Handlers

    def _window_changed(self, window: int) -> None:
        self.given_window = window
        for column in self.columns:
            column.try_out()

    def _pointed(self, kind: str, share: float, number: int) -> None:
        if number < len(self.columns):
            column = self.columns[number]
            self._guarded(lambda: column.take_drag(share) if kind == "drag" else self._take_click(column, share))

    def _chosen(self, number: int, at: int, n: int) -> None:
        if number < len(self.columns):
            self._guarded(lambda: self.columns[number].heat.choose(at, n))

    def _take_click(self, column: Column, share: float) -> None:
        block = column.tuned.strip.block_at(share)
        position = NONE if block is None else block.position
        self.block.value = NONE if position == self.block.value else position

    def settle(self, seconds: float = 30.0) -> bool:
        """Waits until no replay and no sweep is under way; False when it takes longer."""
        return super().settle(seconds) and all(column.heat.settle(seconds) for column in self.columns)

    # Showing

    @property
    def model(self) -> TunerModel:
        """What is shown."""
        name = self.transcript.name or "a conversation"
        said = [count(len(self.transcript), "message")]
        run = self.columns[0].run
        said += [f"window {short(run.window)}"] if run is not None else []
        said += ["summaries are assumed, no model is asked"]
        return TunerModel(
            title=f"Tuner: {name}", line=" · ".join(said), columns=tuple(one.with_heat for one in self.columns)
        )

    def _draw(self) -> None:
        for column in self.columns:
            column.try_out()

    def show(self) -> None:
        """Shows the figures of all columns, and the block that is being read."""
        columns = [column.tuned for column in self.columns]
        model = self.model
        table = (metrics_table(columns),) if any(one.metrics for one in columns) else ()
        self._head.value = card_html(Card(model.title, model.line))
        self._metrics.value = card_html(Card("", "", table))
        reading = self._read()
        self._reading.value = card_html(reading) if reading is not None else ""

    def _read(self) -> Card | None:
        blocks = self.columns[0].tuned.strip.blocks
        if not 0 <= self.block.value < len(blocks):
            return None
        block = blocks[self.block.value]
        return reading_card(block, self.transcript[block.message]) if block.message is not None else None

    def card(self) -> Card:
        """All of it, one policy below the other."""
        return tuner_card(self.model)

    def _words(self) -> str:
        return "; ".join(tuned_words(column.tuned) for column in self.columns)

    @property
    def comparison(self) -> Comparison:
        """The replays that are shown, for their figures as a frame."""
        return Comparison(tuple(one.run for one in self.columns if one.run is not None), self.transcript.name)

    @property
    def df(self) -> DataFrame:
        """One row a policy."""
        return self.comparison.df


class Column(ipywidgets.VBox):
    """One policy: which preset, its settings, and what they lead to.

    Args:
        tuner: Whose part it is.
        number: Its number.
        preset: Policy and settings.

    Attributes:
        preset: Policy and settings in force.
        run: The replay that is shown, or None while it is under way.
        tuned: What is shown, a plain record.
        heat: The heat map of two of its settings.
    """

    def __init__(self, tuner: TunerWidget, number: int, preset: Preset) -> None:
        self._tuner, self.number, self.preset = tuner, number, preset
        self._attempts = Attempts()
        self.run: Replay | None = None
        self.tuned: Tuned
        self.settings: dict[str, ipywidgets.Widget] = {}
        self._html = ipywidgets.HTML()
        self._panel = ipywidgets.VBox()
        self.choice = ipywidgets.Dropdown(description="policy", options=_choices(preset), value=preset.name)
        self.variant = ipywidgets.Dropdown(description="variant", options=preset.variants or ("",))
        super().__init__(layout=ipywidgets.Layout(flex="1 1 420px", min_width="0", padding="0 16px 0 0"))
        self._first()
        self._make_controls()
        self.heat = HeatMap(tuner, self)
        self._folded = ipywidgets.Accordion([self.heat], titles=["Heat map of two settings"], selected_index=None)
        for half in (self._panel, self._folded):
            half.layout.flex, half.layout.min_width = "1 1 380px", "0"
        halves = row(self._panel, self._folded)
        halves.layout.align_items = "flex-start"
        self.children = (row(self.choice, self.variant), self._html, halves)
        self._show_heat()

    def _first(self) -> None:
        """The first replay is run to its end when that is quick; it gives the measure that all others share."""
        trial = self._trial()
        run = self._attempts.quickly(trial) or (trial.run() if len(trial.transcript) <= 2_000 else None)
        if run is None:
            self._show(trial.preview())
            self._tuner_later(trial)
            return
        self._take(trial, run)

    def _trial(self) -> Trial:
        tuner = self._tuner
        return Trial(transcript=tuner.transcript, preset=self.preset, window=tuner.given_window, measure=tuner.measure)

    def _make_controls(self) -> None:
        tuner, window = self._tuner, self.run.window if self.run is not None else 128_000
        known = tunable(self.preset)
        self.settings = {name: control(name, value, window) for name, value in known.items()}
        for name, made in self.settings.items():
            tuner.on(made, _setter(self, name))
        replace_children(self._panel, folded(self.settings.values()))
        self.variant.layout.display = None if self.preset.variants else "none"
        if not getattr(self, "_follows", False):
            self._follows = True
            tuner.on(self.choice, lambda name: self._choose(name, None))
            tuner.on(self.variant, lambda name: self._choose(self.choice.value, name or None))

    # Handlers

    def set(self, name: str, value: Any) -> None:
        """Changes a setting and shows what it leads to; nothing where it has that value already.

        Raises:
            ConfigError: The value is not valid; what was shown stays.
        """
        if self.preset.settings[name] != value:
            self.preset = remade(self.preset, **{name: value})
            self.try_out()

    def take(self, changes: Mapping[str, Any]) -> None:
        """Changes several settings at once, moves their controls along, and shows what they lead to; nothing where all hold.

        Raises:
            ConfigError: A value is not valid, or not with the others; what was shown stays.
        """
        if all(self.preset.settings[name] == value for name, value in changes.items()):
            return
        self.preset = remade(self.preset, **changes)
        for name, value in changes.items():
            self.settings[name].value = value
        self.try_out()

    def _choose(self, name: str, variant: str | None) -> None:
        if (name, variant or "") == (self.preset.name, self.preset.variant):
            return
        self.preset = presets.get(name, variant=variant) if variant else presets.get(name)
        if variant is None:
            self.variant.options = self.preset.variants or ("",)
        self._make_controls()
        self.heat.renew()
        self._show_heat()
        self.try_out()

    def take_drag(self, share: float) -> None:
        """Moves the cut to the nearest place between rounds."""
        name = keep_setting(self.preset)
        if name and name in self.settings:
            blocks = self.tuned.strip.blocks
            at = bisect_left(self.tuned.strip.places, share)
            self.settings[name].value = max(0, len(blocks) - at)

    def try_out(self) -> None:
        """Shows what the settings lead to: at once where that is quick, and a preview until it is known otherwise."""
        trial, number = self._trial(), self._attempts.begin()
        run = self._attempts.quickly(trial)
        if run is not None:
            self._take(trial, run)
        else:
            self.run = None
            self._show(trial.preview())
            self._tuner_later(trial, number)
        self._tuner.show()

    def _tuner_later(self, trial: Trial, number: int | None = None) -> None:
        wanted = self._attempts.begin() if number is None else number

        def job() -> None:
            run = self._attempts.slowly(trial, wanted)
            if run is not None and self._attempts.is_wanted(wanted):
                self._take(trial, run)
                self._tuner.show()

        self._tuner.later(job)

    # Showing

    def _take(self, trial: Trial, run: Replay) -> None:
        self.run = run
        self._tuner.measure = run.final.measure
        self._show(trial.result(run))

    def _show(self, tuned: Tuned) -> None:
        self.tuned = tuned
        card = tuned_card(tuned, self.number, can_drag=bool(keep_setting(self.preset)))
        self._html.value = card_html(card)
        if self.children:
            self.heat.draw()

    def _show_heat(self) -> None:
        """Hides the heat map of a policy that has no two settings to sweep."""
        self._folded.layout.display = self.heat.layout.display

    @property
    def with_heat(self) -> Tuned:
        """What is shown, with the heat map."""
        return replace(self.tuned, heat=self.heat.model)

    def close(self) -> None:
        """Ends its replays and closes all that it is made of."""
        self._attempts.begin()
        for child in self.children:
            close_all(child)
        super().close()


def _choices(preset: Preset) -> list[str]:
    return sorted({*presets.names(), preset.name})


def _setter(column: Column, name: str) -> Callable[[Any], None]:
    before = column.preset.settings[name]
    return lambda _: column.set(name, value_of(column.settings[name], before))
