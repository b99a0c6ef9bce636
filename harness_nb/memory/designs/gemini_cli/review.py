"""What a person asks Gemini CLI's memory: the index of the private notes, and the inbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError, StoreError
from harness_nb.memory.designs.gemini_cli.inbox import KINDS, Inbox, Waiting
from harness_nb.memory.recall import AgentMemory
from harness_nb.memory.results import MemoryText
from harness_nb.store.files import read_text
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness_nb.memory.candidate import Candidate
    from harness_nb.memory.changes import Change, ChangeKind
    from harness_nb.memory.consolidation_report import ConsolidationReport
    from harness_nb.memory.designs.gemini_cli.patches import FilePatch
    from harness_nb.memory.review import Numbers
    from harness_nb.memory.review_results import Decision, PendingList
    from harness_nb.store.index import MemoryIndex


class GeminiCliReview(AgentMemory):
    """The memory of an agent with Gemini CLI's design. Candidate 1 are changes of private notes, 2 of the user's own file.

    Args:
        workspace: Where it lies.
        index: Searches it.
        inbox: Changes that wait.
        config: Settings that all designs share.
        consolidating: Mines sessions and waits for it.
        reloaded: Called when files of the memory changed.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: MemoryIndex,
        inbox: Inbox,
        *,
        config: MemoryConfig,
        consolidating: Callable[[], ConsolidationReport],
        reloaded: Callable[[], None],
    ) -> None:
        super().__init__(workspace, index, consolidating=consolidating, config=config)
        self.inbox = inbox
        self._reloaded = reloaded

    def show(self, file: str | None = None) -> MemoryText:
        """The index of the private notes, or another file of the workspace."""
        if file is not None:
            return super().show(file)
        path = self.inbox.places.index_file
        return MemoryText(self.workspace.relative(path), read_text(path) or "")

    def pending(self) -> PendingList:
        """Changes that wait in the inbox."""
        from harness_nb.memory.review_results import PendingList

        found, warnings = self.inbox.waiting()
        return PendingList(candidates=tuple(map(self._candidate, found)), warnings=tuple(warnings))

    def accept(self, number: int | str, entries: Numbers = None) -> Decision:
        """Makes changes of a candidate, all of them or none; the prompt shows them at once.

        Args:
            number: The candidate.
            entries: Which of its changes, by number; None for all.

        Raises:
            StoreError: There is no such candidate or change, or one can't be made.
        """
        return self._decision("accepted", number, entries, self.inbox.accept)

    def reject(self, number: int | str, entries: Numbers = None, *, again: bool = False) -> Decision:
        """Forgets changes of a candidate.

        Args:
            number: The candidate.
            entries: Which of its changes, by number; None for all.
            again: Not possible here, as a session is read once for each time that it goes on.

        Raises:
            ConfigError: `again` was asked for.
            StoreError: There is no such candidate or change, or a file can't be written.
        """
        if again:
            raise ConfigError("Sessions that were read are not read again.", "Leave again=True out.", subject="again")
        return self._decision("rejected", number, entries, self.inbox.reject)

    def edit(self, number: int | str, entry: int | str, text: str) -> Change:
        """Not possible: a patch is applied or rejected.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError("A patch of the inbox can't be edited.", "Accept it, then edit the file.", subject=number)

    def _decision(
        self,
        verb: str,
        number: int | str,
        entries: Numbers,
        decide: Callable[[str, Sequence[int] | None], tuple[FilePatch, ...]],
    ) -> Decision:
        from harness_nb.memory.review_results import Decision

        kind = self._kind(number)
        before = {patch: at for at, patch in enumerate(self._patches(kind), 1)}
        chosen = decide(kind, _numbers(entries))
        self._reloaded()
        return Decision(
            verb=verb,
            candidate=KINDS.index(kind) + 1,
            changes=tuple(_change(before[patch], patch) for patch in chosen),
            left=len(before) - len(chosen),
            tokens=CharsCounter().count_text(self.show().text),
        )

    def _patches(self, kind: str) -> tuple[FilePatch, ...]:
        return next((one.patches for one in self.inbox.waiting()[0] if one.kind == kind), ())

    def _kind(self, number: int | str) -> str:
        from harness_nb.memory.review import number_of

        at = number_of(number, "candidate")
        if not 1 <= at <= len(KINDS):
            raise StoreError(f"There is no candidate {number!r}.", "See pending().", subject=number)
        return KINDS[at - 1]

    def _candidate(self, waiting: Waiting) -> Candidate:
        from harness_nb.memory.candidate import Candidate

        path = self.inbox.path(waiting.kind)
        changes = tuple(_change(at, patch) for at, patch in enumerate(waiting.patches, 1))
        created = datetime.fromtimestamp(path.stat().st_mtime, self.workspace.clock.now().tzinfo)
        reason = "every change of the inbox waits for a person"
        return Candidate(number=waiting.number, created=created, reason=reason, changes=changes)


def _numbers(entries: Numbers) -> Sequence[int] | None:
    from harness_nb.memory.review import number_of

    if entries is None:
        return None
    several = [entries] if isinstance(entries, int | str) else list(entries)
    return [number_of(one, "change") for one in several]


def _change(number: int, patch: FilePatch) -> Change:
    """A change of a file as the review shows it."""
    from harness_nb.memory.changes import Change

    before, after = patch.before, patch.after
    kind: ChangeKind = "changed" if before and after else "removed" if before else "added"
    return Change(number=number, kind=kind, heading=patch.path, before=before, after=after)
