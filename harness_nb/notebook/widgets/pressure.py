"""The pressure widget: what fills the window, live. The HTML is that of the static form."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets

from harness_nb.core.events import TextPiece, ThinkingPiece
from harness_nb.core.plan import Plan, Pressure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.notebook.environment import is_static
from harness_nb.render.card import Card, card_html
from harness_nb.render.pressure import PressureModel, pressure_model
from harness_nb.render.pressure_view import pressure_card, pressure_words
from harness_nb.render.results import card_bundle

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.core.events import Event

SECONDS_BETWEEN_UPDATES = 0.1


class Source(Protocol):
    """What the widget can show: an agent or a replay."""

    def view(self) -> View:
        """The conversation now."""
        ...

    def pressure(self) -> Pressure:
        """How full it is, as the policy measures it."""
        ...

    def course(self) -> tuple[tuple[int, int, int, int, str | None], ...]:
        """Sizes over the session."""
        ...


def model_of(source: Source | Transcript) -> PressureModel:
    """The view model of an agent, a replay or a transcript."""
    if isinstance(source, Transcript):
        return pressure_model(View.of(source))
    plan, policy = _planned(source)
    return pressure_model(
        source.view(),
        source.pressure(),
        plan=plan,
        policy=policy,
        memory_tokens=getattr(source, "memory_tokens", 0),
        course=source.course(),
    )


def _planned(source: Any) -> tuple[Plan | None, str]:
    """What the policy would do now, and its name; of a replay only the name."""
    if callable(getattr(source, "plan", None)):
        planned = source.plan()
        return planned.plan, planned.policy
    return None, str(getattr(source, "policy", ""))


class PressureWidget(ipywidgets.VBox):
    """How full the context is: parts, tiers, triggers and course. It follows a live agent by itself.

    Args:
        source: An agent, a replay or a transcript.

    Attributes:
        model: The figures shown, a plain record.
    """

    def __init__(self, source: Source | Transcript) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._shown_at = 0.0
        self._html = ipywidgets.HTML()
        self.model = model_of(source)
        super().__init__([self._html])
        self._html.value = card_html(pressure_card(self.model))
        watch: Callable[..., Callable[[], None]] | None = getattr(source, "watch", None)
        self._end_watch = watch(self._heard) if watch is not None else None

    def refresh(self) -> None:
        """Shows the figures of now; an error is shown in the widget, and the figures before it stay."""
        with self._lock:
            try:
                self.model = model_of(self._source)
                card = pressure_card(self.model)
            except Exception as error:  # noqa: BLE001 - an error in a handler would be seen nowhere else
                before = pressure_card(self.model)
                note = f"Not up to date: {type(error).__name__}: {error}"
                card = Card(before.title, before.line, before.blocks, (*before.notes, note), before.styles)
            self._html.value = card_html(card)
            self._shown_at = time.monotonic()

    def close(self) -> None:
        """Closes the widget with all that it is made of, and stops following."""
        if self._end_watch is not None:
            self._end_watch()
            self._end_watch = None
        for one in (self._html.style, self._html.layout, self._html, self.layout):
            one.close()
        super().close()

    @property
    def df(self) -> DataFrame:
        """One row for each part of the window."""
        from harness_nb.frames import parts_frame

        return parts_frame(
            {
                "part": part.name,
                "tokens": part.tokens,
                "share": part.tokens / self.model.window,
                "messages": part.messages,
            }
            for part in self.model.parts
        )

    def _heard(self, event: Event) -> None:
        """Follows the agent: pieces of an answer change nothing, what ends something is always shown."""
        if isinstance(event, TextPiece | ThinkingPiece):
            return
        is_due = time.monotonic() - self._shown_at >= SECONDS_BETWEEN_UPDATES
        if is_due or event.kind in ("turn_finished", "turn_failed", "compaction_finished"):
            self.refresh()

    def __repr__(self) -> str:
        return f"PressureWidget({pressure_words(self.model)})"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Both forms: the widget, unless displays must stand still, and its static twin."""
        static = card_bundle(pressure_card(self.model))
        if is_static():
            return static
        live = super()._repr_mimebundle_(**options) or {}
        return {**(live[0] if isinstance(live, tuple) else live), **static}
