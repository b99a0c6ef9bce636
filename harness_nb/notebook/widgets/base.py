"""What all widgets have in common: an HTML view of a card, a line for what went wrong, both forms, and an end."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets

from harness_nb.core.events import TextPiece, ThinkingPiece
from harness_nb.errors import HarnessError
from harness_nb.notebook.environment import is_static
from harness_nb.notebook.widgets.work import Work
from harness_nb.render.card import Card, Drawing, card_html, card_text
from harness_nb.render.html import tag
from harness_nb.render.results import card_bundle
from harness_nb.render.text import clip

if TYPE_CHECKING:
    from harness_nb.core.events import Event

SECONDS_BETWEEN_UPDATES = 0.1

_ALWAYS_SHOWN = frozenset(
    {"turn_finished", "turn_failed", "compaction_finished", "consolidation_finished", "maintenance_finished"}
)


class HarnessWidget(ipywidgets.VBox):
    """A card that follows what it shows, with controls around it.

    A handler of a control never raises: what went wrong is said in the widget. What takes long, or asks a model, is queued.

    Args:
        source: What is shown; it is followed where it can be watched.
        parts: The widget's own parts; the line for messages stands below them.
    """

    _is_stale = False
    _is_open = False

    def __new__(cls, *args: Any, **settings: Any) -> HarnessWidget:
        """Parts that are made before the widget itself may queue work already."""
        made: HarnessWidget = super().__new__(cls, *args, **settings)
        made._lock = threading.RLock()
        made._work = Work(made.show_problem)
        return made

    def __init__(self, source: Any, parts: Sequence[ipywidgets.Widget]) -> None:
        self._source = source
        self._shown_at = 0.0
        self._said = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        super().__init__([*parts, self._said], layout=ipywidgets.Layout(max_width="1000px"))
        self.add_class("hnb-widget")
        watch: Callable[..., Callable[[], None]] | None = getattr(source, "watch", None)
        self._end_watch = watch(self._heard) if watch is not None else None
        self._is_open = True

    # What a widget is made of

    @abstractmethod
    def card(self) -> Card:
        """The static form, which says all that the live one says."""

    @abstractmethod
    def _draw(self) -> None:
        """Looks at the source and shows it as it is now."""

    @abstractmethod
    def _words(self) -> str:
        """The state in the fewest words, for the repr."""

    # Showing

    def refresh(self) -> None:
        """Shows the source as it is now; an error is shown in the widget, and what was there before it stays.

        Never waits: while another thread draws or handles something, that one draws once more at its end.
        """
        self._is_stale = True
        while self._is_stale and self._lock.acquire(blocking=False):
            try:
                self._is_stale = False
                self._shown_at = time.monotonic()
                self._draw()
            except Exception as error:  # noqa: BLE001 - an error in a handler would be seen nowhere else
                self.show_problem(error, "Not up to date")
            finally:
                self._lock.release()

    def say(self, text: str) -> None:
        """Shows a line below the controls; an empty one takes it away."""
        self._show_line(Card("", "", notes=(text,)) if text else None)

    def show_problem(self, error: BaseException, before: str = "") -> None:
        """Shows an error in the widget.

        Args:
            error: What went wrong.
            before: What it means for what is shown, in words.
        """
        told = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        shown = clip(f"{before}: {told}" if before else told, 1_000)
        alert = tag("div", tag("strong", "! "), shown, class_="hnb-problem", role="alert")
        self._show_line(Card("", "", (Drawing(alert, shown),)))

    def _show_line(self, card: Card | None) -> None:
        self._said.value = card_html(card) if card is not None else ""
        self._said.layout.display = None if card is not None else "none"

    def _heard(self, event: Event) -> None:
        """Follows an agent: pieces of an answer change nothing, what ends something is always shown."""
        if isinstance(event, TextPiece | ThinkingPiece):
            return
        if event.kind in _ALWAYS_SHOWN or time.monotonic() - self._shown_at >= SECONDS_BETWEEN_UPDATES:
            self.refresh()

    # Handlers

    def on(self, control: ipywidgets.Widget, handler: Callable[[Any], None], name: str = "value") -> None:
        """Calls a handler with the new value of a control; an error in it is shown in the widget."""
        control.observe(lambda change: self._guarded(partial(handler, change["new"])), names=name)

    def on_click(self, button: ipywidgets.Button, handler: Callable[[], None]) -> None:
        """Calls a handler when a button is pressed; an error in it is shown in the widget."""
        button.on_click(lambda _: self._guarded(handler))

    def queue(self, name: str, job: Callable[[], object]) -> None:
        """Does something in the background, one after the other; its name is shown until it is done."""
        self.say(f"{name} …")

        def done() -> None:
            said = job()
            self.refresh()
            self.say(f"{name}: {said}" if said else "")

        self._work.add(done)

    def later(self, job: Callable[[], object]) -> None:
        """Does something in the background without a word."""
        self._work.add(job)

    def settle(self, seconds: float = 30.0) -> bool:
        """Waits until nothing is queued any more; False when it takes longer."""
        return bool(self._work.settle(seconds))

    def _guarded(self, handler: Callable[[], None]) -> None:
        with self._lock:
            try:
                handler()
            except Exception as error:  # noqa: BLE001 - an error in a handler would be seen nowhere else
                self.show_problem(error)
        if self._is_stale:
            self.refresh()

    # Forms and end

    def close(self) -> None:
        """Closes the widget with all that it is made of, and stops following; a second time does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        if self._end_watch is not None:
            self._end_watch()
        for child in self.children:
            close_all(child)
        self.layout.close()
        super().close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._words()})"

    def __str__(self) -> str:
        """The static form as text, for a script."""
        return card_text(self.card())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Both forms: the widget, unless displays must stand still, and its static twin."""
        static = card_bundle(self.card())
        if is_static():
            return static
        live = super()._repr_mimebundle_(**options) or {}
        return {**(live[0] if isinstance(live, tuple) else live), **static}


def close_all(widget: ipywidgets.Widget) -> None:
    """Closes a widget with its children, style and layout."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    for name in ("style", "layout"):
        part = getattr(widget, name, None)
        if isinstance(part, ipywidgets.Widget):
            part.close()
    widget.close()


def row(*parts: ipywidgets.Widget) -> ipywidgets.HBox:
    """Controls in a row that breaks into lines in a narrow cell."""
    return ipywidgets.HBox(list(parts), layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))


def replace_children(box: ipywidgets.Box, parts: Iterable[ipywidgets.Widget]) -> None:
    """Puts other children into a box and closes those that it had."""
    before, box.children = box.children, tuple(parts)
    for child in before:
        if child not in box.children:
            close_all(child)
