"""What the sub-commands of `%memory` do that is more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness_nb.notebook.arguments import Given
from harness_nb.notebook.errors import MagicError

if TYPE_CHECKING:
    from harness_nb.memory.results import MemoryStatus, MemoryText
    from harness_nb.memory.review_results import Decision, VersionList
    from harness_nb.notebook.magics import HarnessMagics
    from harness_nb.notebook.widgets.consolidation import ConsolidationWidget
    from harness_nb.store.hits import SearchHits


def search(magics: HarnessMagics, given: Given) -> SearchHits:
    """Searches what the agent remembers."""
    chosen: dict[str, Any] = {"limit": magics.limit, **given.options}
    kinds = chosen.pop("kind", None)
    chosen.pop("debug", None)
    return magics.seat.agent.memory.search(given.text, kinds=kinds, **chosen)


def show(magics: HarnessMagics, given: Given) -> MemoryText:
    """Shows MEMORY.md, or another file of the memory."""
    return magics.seat.agent.memory.show(given.text or None)


def pending(magics: HarnessMagics, given: Given) -> ConsolidationWidget:
    """What waits for curated memory."""
    from harness_nb.notebook.widgets.consolidation import ConsolidationWidget

    return ConsolidationWidget(magics.seat.agent)


def accept(magics: HarnessMagics, given: Given) -> Decision:
    """Makes proposed changes."""
    return magics.seat.agent.memory.accept(given.text, _changes(given))


def reject(magics: HarnessMagics, given: Given) -> Decision:
    """Forgets proposed changes."""
    again = bool(given.options.get("again"))
    if again and "only" in given.options:
        raise MagicError("--again is for a whole candidate.", "Leave --only out.")
    return magics.seat.agent.memory.reject(given.text, _changes(given), again=again)


def _changes(given: Given) -> Any:
    """The changes that are named, or None for all."""
    return given.options.get("only")


def restore(magics: HarnessMagics, given: Given) -> MemoryText | VersionList:
    """Goes back to a version, or lists them."""
    memory = magics.seat.agent.memory
    if not given.text:
        return memory.versions()
    if not given.text.isdecimal():
        raise MagicError(f"{given.text!r} is no number of a version.", "See %memory restore for the list.")
    return memory.restore(int(given.text))


def reindex(magics: HarnessMagics, given: Given) -> MemoryStatus:
    """Builds the index anew and says what it holds."""
    memory = magics.seat.agent.memory
    memory.index.rebuild()
    return memory.status()
