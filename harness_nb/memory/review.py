"""The review: a person accepts, rejects or edits what a candidate would change, whole or entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter, TokenCounter
from harness_nb.errors import ConfigError, StoreError
from harness_nb.memory.candidate import Candidate, candidate_from_record, stored_candidates
from harness_nb.memory.changes import Change, with_changes
from harness_nb.memory.consolidation import settle, size_warning
from harness_nb.memory.outline import as_entry
from harness_nb.memory.review_results import Decision
from harness_nb.store.candidates import CandidateFiles
from harness_nb.store.watermark import content_hash
from harness_nb.store.workspace import Workspace

Numbers = int | str | Iterable[int | str] | None
"""Numbers of changes: one, several, or None for all that are not decided."""


class Review:
    """Decides on the candidates of one workspace.

    Args:
        workspace: Holds them, and MEMORY.md.
        config: The cap, which no decision exceeds.
        counter: Counts tokens; four characters each by default.
    """

    def __init__(self, workspace: Workspace, config: MemoryConfig, counter: TokenCounter | None = None) -> None:
        self.workspace = workspace
        self.config = config
        self._counter = counter or CharsCounter()
        self._files = CandidateFiles(workspace.candidates_folder)

    def waiting(self) -> tuple[list[Candidate], list[str]]:
        """The candidates that wait, oldest first, and what is wrong with files that can't be read."""
        found, warnings = stored_candidates(self._files)
        return [candidate for candidate in found if candidate.status == "waiting"], warnings

    def accept(self, number: int | str, entries: Numbers = None) -> Decision:
        """Makes changes to MEMORY.md; what was edited there in the meantime stays. With the last one, the candidate ends.

        Args:
            number: The candidate.
            entries: Which of its changes; None for all that are not decided.

        Raises:
            StoreError: There is no such candidate or change, the cap would be exceeded, or a file can't be written.
        """

        def accepted(candidate: Candidate, chosen: tuple[Change, ...]) -> None:
            self.workspace.curated.change(lambda fresh: self._with(fresh, candidate, chosen))

        return self._decided("accepted", number, entries, accepted)

    def reject(self, number: int | str, entries: Numbers = None, *, again: bool = False) -> Decision:
        """Forgets changes. With the last one, the candidate ends: its log entries count as merged and stay in the logs.

        Args:
            number: The candidate.
            entries: Which of its changes; None for all that are not decided.
            again: Only for a whole candidate: its log entries are merged anew by the next consolidation.

        Raises:
            ConfigError: `again` was said of some changes only.
            StoreError: There is no such candidate or change, or a file can't be written.
        """
        if again and entries is not None:
            raise ConfigError("again=True is for a whole candidate.", "Leave the entries out.", subject="again")
        return self._decided("rejected", number, entries, lambda candidate, chosen: None, settles=not again)

    def edit(self, number: int | str, entry: int | str, text: str) -> Change:
        """Replaces the text that a change would give its entry; it is not decided yet by that.

        Args:
            number: The candidate.
            entry: The change.
            text: The new text, one fact; a line feed in it is kept as `<br>`.

        Raises:
            ConfigError: The text is blank, or the change removes its entry.
            StoreError: There is no such candidate or change, or the file can't be written.
        """
        with self._files.deciding():
            candidate = self._load(number)
            change = candidate.change(number_of(entry, "change"))
            if change.kind == "removed":
                raise ConfigError(
                    f"Change {change.number} takes an entry out; it has no text to edit.",
                    "Reject it to keep the entry.",
                )
            clean = as_entry(self.workspace.clean(text))
            if clean == as_entry(""):
                raise ConfigError("The text of an entry can't be empty.", "Reject the change instead.", subject=text)
            edited = candidate.edited(change.number, clean)
            self._files.save(edited.number, edited.to_record())
            return edited.change(change.number)

    def _decided(
        self,
        verb: str,
        number: int | str,
        entries: Numbers,
        carry_out: Callable[[Candidate, tuple[Change, ...]], None],
        *,
        settles: bool = True,
    ) -> Decision:
        with self._files.deciding():
            candidate = self._load(number)
            chosen = _chosen(candidate, entries)
            carry_out(candidate, chosen)
            left = candidate.without(frozenset(change.number for change in chosen))
            if left.changes:
                self._files.save(left.number, left.to_record())
            elif settles:
                settle(self.workspace, candidate, now=self.workspace.clock.now())
            else:
                self._files.remove(candidate.number)
            size = self._counter.count_text(self.workspace.curated.read())
            return Decision(
                verb=verb,
                candidate=candidate.number,
                changes=chosen,
                left=len(left.changes),
                tokens=size,
                warning=size_warning(size, self.config),
            )

    def _load(self, number: int | str) -> Candidate:
        return candidate_from_record(self._files.load(number_of(number, "candidate")))

    def _with(self, fresh: str, candidate: Candidate, chosen: tuple[Change, ...]) -> str:
        is_all = candidate.is_whole and chosen == candidate.changes
        text = candidate.text if is_all and content_hash(fresh) == candidate.base_hash else with_changes(fresh, chosen)
        size, cap = self._counter.count_text(text), self.config.max_memory_tokens
        if size > cap and size > self._counter.count_text(fresh):
            raise StoreError(
                f"MEMORY.md would have about {size:,} tokens, and may have at most {cap:,}.",
                "Accept fewer of the changes, accept what takes entries out first, or raise max_memory_tokens.",
                subject=candidate.number,
            )
        return text


def _chosen(candidate: Candidate, entries: Numbers) -> tuple[Change, ...]:
    if entries is None:
        return candidate.changes
    several = [entries] if isinstance(entries, int | str) else list(entries)
    numbers = [number_of(entry, "change") for entry in several]
    return tuple(candidate.change(number) for number in dict.fromkeys(numbers))


def number_of(number: int | str, what: str) -> int:
    """A number from what a person typed: a whole number, or its digits.

    Raises:
        ConfigError: It is none; says of what.
    """
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int):
        raise ConfigError(
            f"{number!r} is no number of a {what}.",
            "See %memory pending, or agent.memory.pending(), for the numbers.",
            subject=number,
        )
    return number
