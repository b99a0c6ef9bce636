"""How the two layers of one workspace stand to each other: what is merged, what waits, what MEMORY.md was before."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter
from harness_nb.memory.consolidation import size_warning
from harness_nb.memory.outline import entries
from harness_nb.memory.overlap import is_said
from harness_nb.memory.pending import pending
from harness_nb.memory.results import Standing
from harness_nb.memory.review import Review, number_of
from harness_nb.memory.review_results import PendingList, VersionList, VersionRecord
from harness_nb.store.daily_log import Entry
from harness_nb.store.files import read_text
from harness_nb.store.watermark import ConsolidationState, Watermark
from harness_nb.store.workspace import Workspace


class Keeping:
    """Answers for one workspace.

    Args:
        workspace: The workspace.
        config: The cap that decisions of a review keep.

    Attributes:
        review: Decides on candidates.
    """

    def __init__(self, workspace: Workspace, config: MemoryConfig) -> None:
        self.workspace = workspace
        self._config = config
        self.review = Review(workspace, config)

    def state(self) -> tuple[ConsolidationState, str]:
        """What is known about earlier consolidations, and what is wrong with the file that says so, or empty."""
        return Watermark(self.workspace.watermark_path, clock=self.workspace.clock).read()

    def unmerged(self) -> tuple[Entry, ...]:
        """Log entries that are not merged yet, oldest first."""
        return pending(self.workspace.daily_log, self.state()[0].marks).entries

    def pending(self) -> PendingList:
        """Log entries that are not in MEMORY.md yet, and changes that wait for review."""
        state, problem = self.state()
        candidates, warnings = self.review.waiting()
        return PendingList(
            entries=pending(self.workspace.daily_log, state.marks).entries,
            candidates=tuple(candidates),
            last_success=state.last_success,
            failures=state.failures,
            warnings=(*((problem,) if problem else ()), *warnings),
        )

    def standing(self, found: Sequence[Entry]) -> list[Standing]:
        """Of log entries: whether each was merged, and whether MEMORY.md says it now."""
        waiting = {(entry.date, entry.line) for entry in self.unmerged()}
        said = [entry.bare for entry in entries(self.workspace.curated.read())]
        return [
            Standing("pending" if (entry.date, entry.line) in waiting else "merged", is_said(entry.text, said))
            for entry in found
        ]

    def problems(self) -> tuple[str, ...]:
        """What the user should know: a state file that can't be used, a MEMORY.md that is not injected whole."""
        size = CharsCounter().count_text(self.workspace.curated.read())
        found = (self.state()[1], size_warning(size, self._config))
        return tuple(text for text in found if text)

    def restore(self, number: int | str) -> None:
        """Makes a version of MEMORY.md the current one.

        Raises:
            ConfigError: It is no number.
            StoreError: There is no such version, or a file can't be written.
        """
        self.workspace.curated.restore(number_of(number, "version"))

    def versions(self) -> VersionList:
        """MEMORY.md before each replacement, oldest first."""
        counter = CharsCounter()
        found = []
        for one in self.workspace.curated.versions():
            text = read_text(one.path) or ""
            found.append(
                VersionRecord(
                    number=one.number,
                    time=one.time,
                    path=self.workspace.relative(one.path),
                    entries=len(entries(text)),
                    tokens=counter.count_text(text),
                )
            )
        return VersionList(found)
