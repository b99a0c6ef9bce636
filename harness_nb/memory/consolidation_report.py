"""What came of a consolidation, as a record that shows itself and has a data frame."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness_nb.core.messages import Usage
from harness_nb.memory.changes import Change
from harness_nb.memory.results import Displayed, counted

if TYPE_CHECKING:
    from pandas import DataFrame

ConsolidationOutcome = Literal["applied", "waiting", "nothing", "failed", "busy"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConsolidationReport(Displayed):
    """What came of a consolidation.

    Attributes:
        outcome: `applied`: MEMORY.md holds what was new; `waiting`: a candidate waits for review; `nothing`: there was
            nothing to merge; `failed`: the model or a file failed; `busy`: another one is running.
        reason: Why, where that is not plain.
        entries: Log entries that were merged.
        changes: What becomes, or would become, of the entries of MEMORY.md.
        missing: Merged facts that MEMORY.md does not hold; they are in the daily logs, where a search finds them.
        trimmed: Entries that were taken out to keep the cap.
        candidate: Number of the candidate that waits, or None.
        tokens_before: Estimated size of MEMORY.md before.
        tokens_after: The same afterwards.
        pending: Log entries that are not merged yet.
        model_calls: Requests that were made.
        usages: What the provider reported for each, where it did.
        warnings: What went wrong without stopping it.
    """

    outcome: ConsolidationOutcome
    reason: str = ""
    entries: int = 0
    changes: tuple[Change, ...] = ()
    missing: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    candidate: int | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    pending: int = 0
    model_calls: int = 0
    usages: tuple[Usage, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ConsolidationReport({self.summary!r})"

    def __str__(self) -> str:
        notes = [f"not in MEMORY.md: {fact}" for fact in self.missing]
        notes += [f"taken out to keep the cap: {entry}" for entry in self.trimmed]
        return "\n".join([self.summary, *map(change_line, self.changes), *notes, *self.warnings])

    @property
    def summary(self) -> str:
        """What came of it, in one line."""
        if self.outcome != "applied":
            done = f"; {counted(self.entries, 'entry', 'entries')} merged before" if self.entries else ""
            return f"{self.outcome}: {self.reason}{done}"
        left = f", {self.pending} left" if self.pending else ""
        return (
            f"{counted(self.entries, 'log entry', 'log entries')} merged{left}: {kinds_of(self.changes)}, "
            f"{self.tokens_before:,} → {self.tokens_after:,} tokens"
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each change: the fields of `Change`, and the candidate that waits."""
        return [asdict(change) | {"candidate": self.candidate} for change in self.changes]

    @property
    def df(self) -> DataFrame:
        """One row a change."""
        from harness_nb.frames import changes_frame

        return changes_frame(self.records)


def kinds_of(changes: tuple[Change, ...]) -> str:
    """How many changes there are of each kind."""
    kinds = ("added", "changed", "moved", "removed")
    found = [f"{number} {kind}" for kind in kinds if (number := sum(one.kind == kind for one in changes))]
    return ", ".join(found) or "no entry changed"


def change_line(change: Change) -> str:
    """A change in one line."""
    before, after = (" ".join(text.removeprefix("- ").split()) for text in (change.before, change.after))
    match change.kind:
        case "added":
            told = f"+ {after}"
        case "removed":
            told = f"- {before}"
        case "changed":
            told = f"~ {before} → {after}"
        case "moved":
            told = f"> {after} (to {change.heading!r})"
    return f"{change.number:>3} {told}"
