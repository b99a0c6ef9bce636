"""The way from a compaction in a live turn to its plan: a button that opens the plan below itself."""

from __future__ import annotations

from typing import Any

import ipywidgets

from harness_nb.notebook.widgets.base import HarnessWidget, replace_children, row
from harness_nb.notebook.widgets.cutoff import CutoffWidget
from harness_nb.render.card import Card
from harness_nb.render.turn import plan_command


class PlanLink(HarnessWidget):
    """Opens the plan of a compaction, and closes it again. Saved, it is the command that does the same.

    Args:
        agent: Whose plan it is.
        number: Number of the plan.

    Attributes:
        opened: The plan, or None while it is closed.
    """

    def __init__(self, agent: Any, number: int) -> None:
        self.number = number
        self.opened: CutoffWidget | None = None
        self.button = ipywidgets.Button(tooltip=plan_command(number))
        self._below = ipywidgets.VBox()
        super().__init__(agent, [row(self.button), self._below])
        self.on_click(self.button, self._toggle)
        self._draw()

    def _toggle(self) -> None:
        self.opened = CutoffWidget(self._source, plan=self.number) if self.opened is None else None
        replace_children(self._below, [self.opened] if self.opened is not None else [])
        self._draw()

    def _draw(self) -> None:
        """The past does not change."""
        self.button.description = f"Close plan {self.number}" if self.opened is not None else f"Open plan {self.number}"

    def card(self) -> Card:
        """The command."""
        return Card("", f"Plan {self.number}: {plan_command(self.number)}")

    def _words(self) -> str:
        return f"plan {self.number}"
