"""The consolidation widget: what waits for curated memory, decided entry by entry, and versions to go back to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

import ipywidgets

from harness_nb.notebook.widgets.base import HarnessWidget, replace_children, row
from harness_nb.notebook.widgets.review import Choices, consolidation_model, memory_of, version_changes
from harness_nb.render.card import Card, Drawing, card_html
from harness_nb.render.consolidation import (
    MAX_CHANGES,
    STYLES,
    ChangeRow,
    ConsolidationModel,
    Proposal,
    change_markup,
    change_text,
    changes_card,
    consolidation_card,
    days_table,
    proposal_words,
)
from harness_nb.render.html import tag
from harness_nb.render.text import count

if TYPE_CHECKING:
    from pandas import DataFrame

NONE = 0
"""Number that stands for no version."""


class ConsolidationWidget(HarnessWidget):
    """Log entries that are not in MEMORY.md yet, and proposed changes to decide on. Nothing is done before it is applied.

    Args:
        source: An agent, or its memory.

    Attributes:
        model: What is shown, a plain record.
    """

    _open: ClassVar[WeakSet[ConsolidationWidget]] = WeakSet()

    def __init__(self, source: Any) -> None:
        self._choices = Choices()
        self._shown: object = None
        self.model: ConsolidationModel = consolidation_model(source, self._choices)
        self._head = ipywidgets.HTML()
        self._proposals = ipywidgets.VBox()
        self._difference = ipywidgets.HTML()
        self.consolidate = ipywidgets.Button(
            description="Consolidate now",
            tooltip="merge the pending entries; a change that loses much waits for review",
        )
        self.undo = ipywidgets.Button(description="Undo choices", tooltip="nothing of them has been applied yet")
        self.version = ipywidgets.Dropdown(description="version")
        self.restore = ipywidgets.Button(description="Restore", tooltip="the MEMORY.md of now is kept as a version")
        buttons = row(self.consolidate, self.undo, self.version, self.restore)
        super().__init__(source, [self._head, self._proposals, buttons, self._difference])
        self.on_click(self.consolidate, lambda: self._decide("Consolidating", memory_of(self._source).consolidate))
        self.on_click(self.undo, self._undo)
        self.on_click(self.restore, self._restore)
        self.on(self.version, self._compare)
        self._show()
        self._open.add(self)

    # What the user chooses; nothing is written

    def choose(self, candidate: int, number: int, is_chosen: bool) -> None:
        """Takes a change in or leaves it out, for when the candidate is applied."""
        change = self._choices.left_out.discard if is_chosen else self._choices.left_out.add
        change((candidate, number))
        self._redraw()

    def edit(self, candidate: int, number: int, text: str) -> None:
        """Gives a change another text, for when the candidate is applied; an empty one takes that back."""
        if text.strip():
            self._choices.texts[candidate, number] = text
        else:
            self._choices.texts.pop((candidate, number), None)
        self._redraw()

    def _undo(self) -> None:
        self._choices.clear()
        self._shown = None
        self._redraw()

    # What is written, in the background

    def apply(self, candidate: int) -> None:
        """Queues the chosen changes of a candidate, with the texts given to them; the others wait on."""
        proposal = self._proposal(candidate)
        if proposal is None or not proposal.chosen:
            return self.say("Nothing is chosen.")
        memory, chosen = memory_of(self._source), proposal.chosen
        texts = {n: text for (of, n), text in self._choices.texts.items() if of == candidate and n in chosen}

        def job() -> str:
            for number, text in texts.items():
                memory.edit(candidate, number, text)
            return str(memory.accept(candidate, chosen).summary)

        return self._decide("Applying", job)

    def reject(self, candidate: int, numbers: Iterable[int] | None = None) -> None:
        """Queues the rejection of changes, or of the whole candidate; the log entries stay in the logs."""
        memory, some = memory_of(self._source), None if numbers is None else tuple(numbers)
        self._decide("Rejecting", lambda: memory.reject(candidate, some).summary)

    def _restore(self) -> None:
        number = self.version.value
        if number != NONE:
            self._decide("Restoring", lambda: f"version {number}: {memory_of(self._source).restore(number)!r}")

    def _decide(self, name: str, job: Callable[[], object]) -> None:
        """Queues something that writes; the buttons wait for it, and other widgets of the memory follow."""
        self._set_busy(True)

        def done() -> str:
            try:
                result = job()
            finally:
                self._set_busy(False)
            for other in list(self._open):
                if (
                    other is not self
                    and memory_of(other._source).workspace.path == memory_of(self._source).workspace.path
                ):
                    other.refresh()
            return str(getattr(result, "summary", result))

        self.queue(name, done)

    def _set_busy(self, is_busy: bool) -> None:
        for box in (self.children[2], *self._proposals.children):
            for button in _buttons(box):
                button.disabled = is_busy

    # Showing

    def _proposal(self, candidate: int) -> Proposal | None:
        return next((one for one in self.model.proposals if one.number == candidate), None)

    def _draw(self) -> None:
        self.model = consolidation_model(self._source, self._choices)
        self._show()

    def _redraw(self) -> None:
        self._draw()

    def _show(self) -> None:
        card = consolidation_card(self.model)
        days = (days_table(self.model),) if self.model.days else ()
        self._head.value = card_html(Card(card.title, card.line, days, self.model.warnings, (STYLES,)))
        state = [(one.number, [change.number for change in one.changes]) for one in self.model.proposals]
        if state != self._shown:
            self._shown = state
            replace_children(self._proposals, [self._proposal_box(one) for one in self.model.proposals])
        for proposal, box in zip(self.model.proposals, self._proposals.children, strict=True):
            box.show(proposal)
        self._show_versions()

    def _proposal_box(self, proposal: Proposal) -> ProposalBox:
        return ProposalBox(self, proposal)

    def _show_versions(self) -> None:
        versions = memory_of(self._source).versions()
        options = [("none", NONE), *((_version_words(one), one.number) for one in reversed(versions))]
        if list(self.version.options) != options:
            chosen = self.version.value
            self.version.options = options
            self.version.value = chosen if chosen in [number for _, number in options] else NONE
        self.restore.disabled = self.version.value in (None, NONE)
        self.undo.disabled = not (self._choices.left_out or self._choices.texts)

    def _compare(self, number: int | None) -> None:
        """Shows what restoring a version would change."""
        self.restore.disabled = number in (None, NONE)
        if number is None or number == NONE:
            self._difference.value = ""
            return
        changes = version_changes(memory_of(self._source), number)
        self._difference.value = card_html(changes_card(f"Restoring version {number} would change", changes))

    def card(self) -> Card:
        """What waits, as a card."""
        return consolidation_card(self.model)

    def _words(self) -> str:
        return (
            f"{count(self.model.pending, 'entry', 'entries')} to merge, {count(self.model.changes, 'change')} to review"
        )

    @property
    def df(self) -> DataFrame:
        """One row an entry to merge or a change to review."""
        frame: DataFrame = memory_of(self._source).pending().df
        return frame

    def close(self) -> None:
        """Closes the widget with all that it is made of, and stops following."""
        self._open.discard(self)
        super().close()


class ProposalBox(ipywidgets.VBox):
    """A candidate: its changes with a check box each, and what can be done with it.

    Args:
        widget: Whose part it is.
        proposal: The candidate.
    """

    def __init__(self, widget: ConsolidationWidget, proposal: Proposal) -> None:
        self._title = ipywidgets.HTML()
        self.rows = [ChangeBox(widget, proposal.number, change) for change in proposal.changes[:MAX_CHANGES]]
        self.apply = ipywidgets.Button(button_style="primary")
        self.reject_others = ipywidgets.Button(description="Reject the others")
        self.reject_all = ipywidgets.Button(description="Reject all")
        super().__init__([self._title, *self.rows, row(self.apply, self.reject_others, self.reject_all)])
        number = proposal.number
        widget.on_click(self.apply, partial(widget.apply, number))
        widget.on_click(self.reject_all, partial(widget.reject, number))
        widget.on_click(self.reject_others, lambda: widget.reject(number, self._others))
        self._others: tuple[int, ...] = ()

    def show(self, proposal: Proposal) -> None:
        """Shows the candidate as it is now."""
        missing = [f"Not in the proposal: {'; '.join(proposal.missing[:3])}"] if proposal.missing else []
        more = len(proposal.changes) - len(self.rows)
        missing += [f"{count(more, 'more change')} of it are decided together with those shown."] if more > 0 else []
        title = tag("div", proposal_words(proposal), class_="hnb-caption")
        self._title.value = card_html(Card("", "", (Drawing(title),), tuple(missing)))
        for change, box in zip(proposal.changes, self.rows, strict=False):
            box.show(change)
        chosen = len(proposal.chosen)
        self._others = tuple(one.number for one in proposal.changes if not one.is_chosen)
        self.apply.description = f"Apply {chosen} of {len(proposal.changes)}"
        self.apply.disabled = not chosen
        self.reject_others.disabled = not self._others


class ChangeBox(ipywidgets.VBox):
    """One change: a check box, the difference, and a field to edit its text.

    Args:
        widget: Whose part it is.
        candidate: Number of the candidate.
        change: The change.
    """

    def __init__(self, widget: ConsolidationWidget, candidate: int, change: ChangeRow) -> None:
        self.chosen = ipywidgets.Checkbox(
            indent=False, description=f"{change.number}", layout=ipywidgets.Layout(width="56px"),
            tooltip=f"take in change {change.number}",
        )  # fmt: skip
        self._html = ipywidgets.HTML(layout=ipywidgets.Layout(flex="1 1 auto", min_width="0"))
        self.edit = ipywidgets.ToggleButton(description="Edit", layout=ipywidgets.Layout(width="64px"))
        self.text = ipywidgets.Textarea(
            rows=2, continuous_update=False, layout=ipywidgets.Layout(width="96%", display="none"),
            placeholder="text of the entry; empty takes the proposed one",
        )  # fmt: skip
        line = ipywidgets.HBox([self.chosen, self._html, self.edit], layout=ipywidgets.Layout(align_items="flex-start"))
        super().__init__([line, self.text])
        if change.kind == "removed":
            self.edit.layout.visibility = "hidden"
        number = change.number
        self._is_showing = False
        widget.on(self.chosen, lambda value: self._tell(partial(widget.choose, candidate, number, value)))
        widget.on(self.text, lambda value: self._tell(partial(widget.edit, candidate, number, value)))
        widget.on(self.edit, self._open)

    def _tell(self, change: Callable[[], None]) -> None:
        """Passes on what the user did, not what is being shown."""
        if not self._is_showing:
            change()

    def _open(self, is_open: bool) -> None:
        self.text.layout.display = None if is_open else "none"

    def show(self, change: ChangeRow) -> None:
        """Shows the change as it is now."""
        drawing = Drawing(tag("div", change_markup(change), class_="hnb-change"), change_text(change))
        self._html.value = card_html(Card("", "", (drawing,), styles=(STYLES,)))
        self._is_showing = True
        self.chosen.value = change.is_chosen
        if not self.text.value or not change.is_edited:
            self.text.value = change.after.removeprefix("- ").strip()
        self._is_showing = False


def _buttons(box: Any) -> Iterable[Any]:
    for child in getattr(box, "children", ()):
        if isinstance(child, ipywidgets.Button):
            yield child
        yield from _buttons(child)


def _version_words(version: Any) -> str:
    return f"{version.number}: {version.time:%Y-%m-%d %H:%M}, {count(version.entries, 'entry', 'entries')}"
