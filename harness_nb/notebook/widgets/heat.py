"""The heat map of a tuner: two settings of a policy swept over a conversation; a cell sets the sliders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets

from harness_nb.errors import ConfigError
from harness_nb.lab.run import Replay
from harness_nb.lab.sweep import Sweep, sweep
from harness_nb.notebook.comparing import figures
from harness_nb.notebook.tuning import changed_settings, kind_of, literal
from harness_nb.notebook.widgets.base import close_all, row
from harness_nb.notebook.widgets.column import TooLong
from harness_nb.notebook.widgets.controls import values_to_try
from harness_nb.notebook.widgets.work import Work
from harness_nb.presets import Preset
from harness_nb.render.card import Card, Drawing, Pre, card_html
from harness_nb.render.heat import STYLES, HeatModel, Unit, heat_drawing
from harness_nb.render.text import count

if TYPE_CHECKING:
    from harness_nb.notebook.widgets.tuner import Column, TunerWidget


def mean_prompt_tokens(run: Replay) -> float:
    """Mean size of the recorded requests."""
    return float(figures(run)["mean_prompt_tokens"])


def prefix_reused(run: Replay) -> float:
    """Share of what was sent that stood in the request before, from 0 to 1."""
    return float(figures(run)["prefix_reused"])


def input_cost(run: Replay) -> float | None:
    """US dollars for all input, or None where the price is not known."""
    cost: float | None = figures(run)["input_cost"]
    return cost


METRICS = (
    mean_prompt_tokens, "peak_tokens", "compactions", "model_calls", "own_tokens", prefix_reused, "final_tokens", input_cost,
)  # fmt: skip
FIGURES: dict[str, tuple[str, Unit]] = {
    "mean prompt": ("mean_prompt_tokens", "tokens"),
    "peak": ("peak_tokens", "tokens"),
    "compactions": ("compactions", "count"),
    "model calls": ("model_calls", "count"),
    "sent for compactions": ("own_tokens", "tokens"),
    "prefix reused": ("prefix_reused", "share"),
    "at the end": ("final_tokens", "tokens"),
    "input cost": ("input_cost", "dollars"),
}
"""What can be shown: the name in a sweep's table, and what it counts."""

_CHOOSE = ("from the least to the most …", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a heat map is a map of.

    Attributes:
        preset: Policy and settings; all but two hold for every cell.
        window: Context window in tokens, or None for the recorded model's.
        down: Name of the setting that changes from row to row, with its values.
        across: The same from column to column.
    """

    preset: Preset
    window: int | None
    down: tuple[str, list[Any]]
    across: tuple[str, list[Any]]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The values of both settings."""
        return {self.down[0]: self.down[1], self.across[0]: self.across[1]}

    @property
    def grid(self) -> dict[str, dict[str, Any]]:
        """The grid that a sweep takes."""
        kept = {"variant": self.preset.variant} if self.preset.variant else {}
        return {kind_of(self.preset): {**kept, **changed_settings(self.preset), **self.axes}}

    @property
    def code(self) -> str:
        """The same sweep in Python."""
        [(name, settings)] = self.grid.items()
        said = ", ".join(f'"{key}": {literal(value)}' for key, value in settings.items())
        window = f", window={self.window:_}" if self.window is not None else ""
        return f'sweep(transcript, {{"{name}": {{{said}}}}}{window})'

    def is_of(self, preset: Preset, window: int | None) -> bool:
        """Whether it was made under these settings, apart from the two that change."""
        others = [{k: v for k, v in one.settings.items() if k not in self.axes} for one in (self.preset, preset)]
        return others[0] == others[1] and self.window == window and self.preset.variant == preset.variant


def heat_model(ground: Ground, found: Sweep, figure: str, now: Mapping[str, Any]) -> HeatModel:
    """The view model of a sweep of two settings.

    Args:
        ground: What was swept.
        found: What came of it.
        figure: Which of `FIGURES` is shown.
        now: The settings in force.
    """
    name, unit = FIGURES[figure]
    (down, downs), (across, acrosses) = ground.down, ground.across
    by_place = {(one[down], one[across]): one[name] for one in found.records}
    is_here = now[down] in downs and now[across] in acrosses
    return HeatModel(
        figure=figure,
        unit=unit,
        down=down,
        across=across,
        downs=tuple(downs),
        acrosses=tuple(acrosses),
        values=tuple(tuple(by_place[one, other] for other in acrosses) for one in downs),
        here=(downs.index(now[down]), acrosses.index(now[across])) if is_here else None,
    )


class HeatMap(ipywidgets.VBox):
    """Which two settings to sweep, the sweep under way, and its figures as a table whose cells set the sliders.

    Args:
        tuner: Whose conversation and window are swept.
        column: Whose policy is swept, and whose sliders a cell sets.

    Attributes:
        found: The sweep that is shown, or None.
        model: What is shown, a plain record, or None.
    """

    def __init__(self, tuner: TunerWidget, column: Column) -> None:
        self._tuner, self._column = tuner, column
        self._work = Work(tuner.show_problem)
        self._attempt = 0
        self._ground: Ground | None = None
        self.found: Sweep | None = None
        self.model: HeatModel | None = None
        self._make_controls()
        super().__init__([row(*self._controls), row(self.progress, self.stop), self._html, self.place])
        self._follow_controls()
        self.renew()

    def _make_controls(self) -> None:
        narrow: dict[str, Any] = {"style": {"description_width": "auto"}, "layout": {"width": "210px"}}
        self.down = ipywidgets.Dropdown(description="rows", **narrow)
        self.across = ipywidgets.Dropdown(description="columns", **narrow)
        self.figure = ipywidgets.Dropdown(description="figure", options=list(FIGURES), **narrow)
        self.start = ipywidgets.Button(
            description="Sweep",
            button_style="primary",
            tooltip="replay the conversation under every combination",
            layout={"width": "90px"},
        )
        self.stop = ipywidgets.Button(
            description="Cancel", tooltip="end the sweep; what was shown stays", layout={"width": "90px"}
        )
        self.progress = ipywidgets.IntProgress(style={"description_width": "auto"})
        self.place = ipywidgets.Dropdown(
            description="use cell", options=[_CHOOSE], layout={"width": "480px", "max_width": "100%", "display": "none"}
        )
        self._html = ipywidgets.HTML()
        self._controls = (self.down, self.across, self.figure, self.start)
        self._show_progress(is_running=False)

    def _follow_controls(self) -> None:
        tuner = self._tuner
        tuner.on_click(self.start, self.begin)
        tuner.on_click(self.stop, self.cancel)
        tuner.on(self.figure, lambda _: self.draw())
        tuner.on(self.place, self._take_place)

    # Handlers

    def renew(self) -> None:
        """Forgets what was swept and offers the settings of the column's policy."""
        self.cancel()
        self._ground = self.found = None
        names = [name for name, control in self._column.settings.items() if values_to_try(control)]
        self.down.options = self.across.options = names
        if len(names) > 1:
            self.down.value, self.across.value = names[0], _second(names)
        self.layout.display = None if len(names) > 1 else "none"
        self.draw()

    def begin(self) -> None:
        """Queues a sweep of the two settings that are chosen; one that is under way ends.

        Raises:
            ConfigError: It is one setting.
        """
        down, across, column = self.down.value, self.across.value, self._column
        if down == across:
            raise ConfigError(f"{down!r} is chosen twice.", "Choose two settings.", subject=down)
        tried = {name: values_to_try(column.settings[name]) for name in (down, across)}
        ground = Ground(
            preset=column.preset,
            window=self._tuner.given_window,
            down=(down, tried[down]),
            across=(across, tried[across]),
        )
        self.cancel()
        attempt = self._attempt
        self.progress.value, self.progress.max = 0, len(tried[down]) * len(tried[across])
        self.progress.description = f"0 of {count(self.progress.max, 'replay')}"
        self._show_progress(is_running=True)
        self._work.only(lambda: self._run(ground, attempt))

    def cancel(self) -> None:
        """Ends a sweep that is under way, at its next replays; what was shown stays."""
        self._attempt += 1
        self._show_progress(is_running=False)

    def _take_place(self, place: tuple[int, int] | None) -> None:
        if place is not None:
            self.choose(*place)

    def choose(self, at: int, n: int) -> None:
        """Sets the two sliders to the settings of a cell.

        Args:
            at: Number of the row.
            n: Number of the column.
        """
        if self._ground is not None and at < len(self._ground.down[1]) and n < len(self._ground.across[1]):
            (down, downs), (across, acrosses) = self._ground.down, self._ground.across
            self._column.take({down: downs[at], across: acrosses[n]})

    # The sweep, in the background

    def _run(self, ground: Ground, attempt: int) -> None:
        def look(done: int, total: int) -> None:
            if attempt != self._attempt:
                raise TooLong
            self.progress.value = done
            self.progress.description = f"{done} of {count(total, 'replay')}"

        try:
            found = sweep(self._tuner.transcript, ground.grid, metrics=METRICS, window=ground.window, progress=look)
        except TooLong:
            return
        except BaseException:
            self._show_progress(is_running=False)
            raise
        if attempt == self._attempt:
            self._ground, self.found = ground, found
            self._show_progress(is_running=False)
            self.draw()

    def settle(self, seconds: float) -> bool:
        """Waits until no sweep is under way; False when it takes longer."""
        return self._work.settle(seconds)

    # Showing

    def _show_progress(self, *, is_running: bool) -> None:
        for part in (self.progress, self.stop):
            part.layout.display = None if is_running else "none"

    def draw(self) -> None:
        """Shows the figures of the last sweep, with the settings in force marked."""
        if self._ground is None or self.found is None:
            self.model, self._html.value, self.place.layout.display = None, "", "none"
            return
        column = self._column
        self.model = heat_model(self._ground, self.found, self.figure.value, column.preset.settings)
        is_old = not self._ground.is_of(column.preset, self._tuner.given_window)
        notes = ("Other settings have changed since: sweep again.",) if is_old else ()
        drawing: Drawing = heat_drawing(self.model, column.number, can_choose=True)
        code = Pre(self._ground.code, caption="This sweep in Python", is_open=False)
        self._html.value = card_html(Card("", "", (drawing, code), notes, styles=(STYLES,)))
        self._offer_places(self.model)

    def _offer_places(self, model: HeatModel) -> None:
        """All cells as a list, for those who use neither pointer nor arrow keys."""
        places = model.places()
        options = [_CHOOSE, *((f"{model.words(*at)} · {model.settings(*at)}", at) for at in places)]
        if list(self.place.options) != options:
            self.place.options = options
        self.place.value = model.here if model.here in places else None
        self.place.layout.display = None

    def close(self) -> None:
        """Ends its sweep and closes all that it is made of."""
        self._attempt += 1
        for child in self.children:
            close_all(child)
        super().close()


def _second(names: list[str]) -> str:
    """The setting that goes best with the first: how much is kept, where the first says when."""
    return next((name for name in names[1:] if "keep" in name), names[1])
