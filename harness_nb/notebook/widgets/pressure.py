"""The pressure widget: what fills the window, live. The HTML is that of the static form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets

from harness_nb.core.plan import Plan, Pressure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.notebook.widgets.base import HarnessWidget
from harness_nb.render.card import Card, card_html
from harness_nb.render.pressure import PressureModel, pressure_model
from harness_nb.render.pressure_view import pressure_card, pressure_words

if TYPE_CHECKING:
    from pandas import DataFrame


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
    """The view model of an agent, a replay or a transcript.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(source, Transcript):
        return pressure_model(View.of(source))
    if not callable(getattr(source, "view", None)):
        raise ConfigError(f"{source!r} can't be shown.", "Give an agent, a replay or a transcript.", subject=source)
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


class PressureWidget(HarnessWidget):
    """How full the context is: parts, tiers, triggers and course. It follows a live agent by itself.

    Args:
        source: An agent, a replay or a transcript.

    Attributes:
        model: The figures shown, a plain record.

    Raises:
        ConfigError: The source is none of these.
    """

    def __init__(self, source: Source | Transcript) -> None:
        self._html = ipywidgets.HTML()
        self.model = model_of(source)
        super().__init__(source, [self._html])
        self._html.value = card_html(self.card())

    def card(self) -> Card:
        """The figures as a card."""
        return pressure_card(self.model)

    def _draw(self) -> None:
        self.model = model_of(self._source)
        self._html.value = card_html(self.card())
        self.say("")

    def _words(self) -> str:
        return pressure_words(self.model)

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
