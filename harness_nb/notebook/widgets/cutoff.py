"""The cutoff widget: the conversation as a strip, what a plan does to it, and what happens when the cut is moved."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import ipywidgets

from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.notebook.tuning import preset_code, remade
from harness_nb.notebook.widgets.base import HarnessWidget, row
from harness_nb.notebook.widgets.pointer import Pointer
from harness_nb.notebook.widgets.scenes import Scene, Stage, stage_of
from harness_nb.presets import Preset
from harness_nb.render.card import Block, Card, Pre, card_html
from harness_nb.render.cutoff import CutoffModel
from harness_nb.render.cutoff_view import cutoff_card, reading_card
from harness_nb.render.text import short

if TYPE_CHECKING:
    from pandas import DataFrame

NONE = -1
"""Position that stands for no block."""


class CutoffWidget(HarnessWidget):
    """What a policy does to a conversation: what goes, what stays, where it cuts and why. It follows a live agent.

    A click on a block reads it, dragging the mark moves the cut; the controls below do the same.

    Args:
        source: An agent, a replay or a transcript.
        policy: Name of a preset, a preset or a policy; by default the agent's own, or `harness` for a transcript.
        plan: Number of a past plan of an agent, or of a compaction of a replay, the first is 1; None for what would be
            done now, or the last of a replay.

    Attributes:
        model: The figures shown, a plain record.

    Raises:
        ConfigError: The preset is unknown, or there is no plan of that number.
    """

    def __init__(
        self,
        source: Any | Transcript,
        policy: str | Preset | CompactionPolicy | None = None,
        *,
        plan: int | None = None,
    ) -> None:
        self._stage = stage_of(source, policy)
        self._changes: dict[str, Any] = {}
        self._places = self._stage.places
        place = self._places if plan is None else _checked_place(plan, self._stage)
        self._scene: Scene = self._stage.scene(place - 1, {})
        self.model: CutoffModel = self._scene.model
        self._html = ipywidgets.HTML()
        self._reading = ipywidgets.HTML()
        self._make_controls(place)
        pointer = Pointer(self._pointed)
        super().__init__(source, [self._html, pointer, row(*self._controls(source)), self._reading])
        self._follow_controls()
        self._show()

    def _make_controls(self, place: int) -> None:
        most = max(1, len(self._scene.view.input))
        self.keep = _slider(self._stage.keep, 0, most, min(self._setting(), most))
        self.place = _slider(self._stage.noun, 1, self._places, place)
        self.place.layout.display = None if self._places > 1 else "none"
        self.block = ipywidgets.BoundedIntText(
            value=NONE, min=NONE, max=max(NONE, len(self.model.blocks) - 1), description="read block",
            tooltip="position in the strip; -1 reads none", layout=ipywidgets.Layout(width="160px"),
        )  # fmt: skip
        self.compact = ipywidgets.Button(description="Compact now", button_style="primary")
        self.back = ipywidgets.Button(description="As set", tooltip="the setting that is in force")

    def _controls(self, source: Any) -> list[ipywidgets.Widget]:
        found: list[ipywidgets.Widget] = [self.place]
        found += [self.keep, self.back] if self._stage.keep else []
        found += [self.compact] if hasattr(source, "acompact") else []
        unused = {self.keep, self.back, self.compact} - set(found)
        for control in unused:
            control.layout.display = "none"
        return [*found, self.block, *unused]

    def _follow_controls(self) -> None:
        self.on(self.keep, self._keep_changed)
        self.on(self.block, lambda _: self._show())
        self.on(self.place, lambda _: self._draw())
        self.on_click(self.back, lambda: setattr(self.keep, "value", self._setting()))
        self.on_click(self.compact, self._compact)

    def _setting(self) -> int:
        return int(getattr(self._stage, "setting", 0))

    # Handlers

    def _keep_changed(self, value: int) -> None:
        self._changes = {self._stage.keep: value} if value != self._setting() else {}
        self.compact.description = "Compact as set" if self._changes else "Compact now"
        self._draw()

    def _compact(self) -> None:
        agent = self._source
        self.queue("Compacting", lambda: str(agent.compact()))

    def _pointed(self, kind: str, share: float, column: int) -> None:
        self._guarded(lambda: self._take_drag(share) if kind == "drag" else self._take_click(share))

    def _take_click(self, share: float) -> None:
        block = self.model.block_at(share)
        position = NONE if block is None else block.position
        self.block.value = NONE if position == self.block.value else position

    def _take_drag(self, share: float) -> None:
        """The cut goes to the nearest place between rounds."""
        if not self._stage.keep:
            return
        view, places = self._scene.view, self.model.places
        wanted = bisect_left(places, share)
        nearest = min(view.input.messages.boundaries(), key=lambda at: abs(at - wanted))
        self.keep.value = len(view.input) - nearest

    # Showing

    def _draw(self) -> None:
        self._follow_places()
        self._scene = self._stage.scene(self.place.value - 1, self._changes)
        self.model = self._scene.model
        self.block.max = max(NONE, len(self.model.blocks) - 1)
        self.keep.max = max(1, len(self._scene.view.input), self.keep.value)
        self._show()

    def _follow_places(self) -> None:
        """Goes along with what is new, unless a past plan is being looked at."""
        before, self._places = self._places, self._stage.places
        if self._places == before:
            return
        was_last = self.place.value >= before
        with self.place.hold_trait_notifications():
            self.place.max = self._places
            self.place.value = self._places if was_last else min(self.place.value, self._places)
        self.place.layout.display = None if self._places > 1 else "none"

    def _show(self) -> None:
        card = cutoff_card(self.model, self._code(), selected=self._selected, can_drag=bool(self._stage.keep))
        self._html.value = card_html(card)
        reading = self._read()
        self._reading.value = card_html(reading) if reading is not None else ""

    @property
    def _selected(self) -> int | None:
        return self.block.value if self.block.value != NONE else None

    def _read(self) -> Card | None:
        if self._selected is None:
            return None
        block = self.model.blocks[self._selected]
        log, items = self._scene.view.log, self._scene.view.input
        message = log[block.message] if block.message is not None else items[block.position].message
        return reading_card(block, message)

    def _code(self) -> tuple[Block, ...]:
        """The settings that are tried, as code to copy."""
        if not self._changes:
            return ()
        preset = remade(self._stage.preset, **self._changes)  # type: ignore[attr-defined]  # only where a cut can be moved
        return (Pre(preset_code(preset), caption="These settings in Python"),)

    def card(self) -> Card:
        """The figures as a card, with the plan in detail."""
        details = (*self._code(), *self._scene.details)
        reading = self._read()
        read = [Pre(reading.line), *reading.blocks] if reading is not None else []
        return cutoff_card(self.model, (*read, *details), selected=self._selected)

    def _words(self) -> str:
        before, after = short(self.model.tokens_before), short(self.model.tokens_after)
        return f"{self._scene.plan.outcome}: {before} -> {after} tokens" if before != after else "nothing would change"

    @property
    def df(self) -> DataFrame:
        """One row a message: what becomes of it."""
        from harness_nb.frames import fates_frame
        from harness_nb.frames.records import fate_records

        return fates_frame(fate_records(self._scene.plan, self._scene.view))


def _checked_place(plan: int, stage: Stage) -> int:
    """The number of a plan that there is.

    Raises:
        ConfigError: There is none of that number.
    """
    if type(plan) is int and 1 <= plan <= stage.places:
        return plan
    known = f"Use a number from 1 to {stage.places}" if stage.places > 1 else "There is one"
    raise ConfigError(
        f"There is no {stage.noun} {plan!r}.", f"{known}; the last is shown without a number.", subject=plan
    )


def _slider(name: str, least: int, most: int, value: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(
        description=name, min=least, max=most, value=value, style={"description_width": "auto"},
        layout=ipywidgets.Layout(width="360px", max_width="100%"),
    )  # fmt: skip
