"""What a person asks the memory of an agent: search it, show it, read the logs, consolidate, review, restore."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from harness_nb.core.config import MemoryConfig
from harness_nb.errors import ConfigError, HarnessError, StoreError
from harness_nb.memory.pieces import text_lines
from harness_nb.memory.results import DailyLogView, MemoryStatus, MemoryText, Standing
from harness_nb.store.daily_log import Entry
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.memory.changes import Change
    from harness_nb.memory.consolidation_report import ConsolidationReport
    from harness_nb.memory.flush import FlushOutcome
    from harness_nb.memory.keeping import Keeping
    from harness_nb.memory.review import Numbers
    from harness_nb.memory.review_results import Decision, PendingList, VersionList
    from harness_nb.store.hits import SearchHits
    from harness_nb.store.index import MemoryIndex
    from harness_nb.store.settings import Mode

T = TypeVar("T")

_REFRESH_SECONDS = 0.05  # a status does not wait for other writers


class AgentMemory:
    """The durable memory of an agent, `agent.memory`.

    Args:
        workspace: Where it lies.
        index: Searches it.
        last_flush: Gives the last flush and when it ended, or None before the first.
        consolidating: Consolidates and waits for it; None where the memory has no consolidation.
        decided: Called when a candidate was decided on, as what waited behind it may be merged now.
        config: The cap that decisions of a review keep.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: MemoryIndex,
        last_flush: Callable[[], tuple[datetime, FlushOutcome] | None] = lambda: None,
        *,
        consolidating: Callable[[], ConsolidationReport] | None = None,
        decided: Callable[[], None] = lambda: None,
        config: MemoryConfig | None = None,
    ) -> None:
        self.workspace = workspace
        self.index = index
        self._last_flush = last_flush
        self._consolidating = consolidating
        self._decided = decided
        self._config = config or MemoryConfig()

    @cached_property
    def _keeping(self) -> Keeping:
        from harness_nb.memory.keeping import Keeping  # only when it is asked for, as making an agent has to be quick

        return Keeping(self.workspace, self._config)

    def __repr__(self) -> str:
        return f"AgentMemory({self.workspace.name!r})"

    def search(
        self,
        query: str | None,
        limit: int = 10,
        *,
        kinds: Collection[str] | None = None,
        neighbours: int = 0,
        mode: Mode = "keyword",
    ) -> SearchHits:
        """Searches curated memory, logs and sessions; best hits first, none for a blank query.

        Args:
            query: Words in any form; "quotes" keep a phrase together.
            limit: Most hits.
            kinds: What the hits may be (`memory`, `daily`, `topic`, `session`, `archive`); all of these by default.
            neighbours: How many lines before and behind each hit come with it.
            mode: `keyword`, `hybrid` (by words and by meaning, with the extra `semantic`), or `auto`.

        Raises:
            ConfigError: A setting is not valid, or the extra is not installed.
        """
        return self.index.search(query or "", limit=limit, kinds=kinds, neighbours=neighbours, mode=mode)

    def show(self, file: str | None = None) -> MemoryText:
        """The curated memory, or another of its files.

        Args:
            file: Name of a Markdown file in the workspace, as `files` gives it; None for the curated memory.

        Raises:
            StoreError: There is no such file.
        """
        if file is None:
            curated = self.workspace.curated
            return MemoryText(self.workspace.relative(curated.path), curated.read())
        text = self.workspace.read(file) if file.endswith(".md") else None
        if text is None:
            from difflib import get_close_matches

            near = get_close_matches(file, self.files(), 1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"There is {', '.join(self.files()[:5]) or 'none yet'}."
            raise StoreError(f"The memory has no file {file!r}.", remedy, subject=file)
        return MemoryText(file, text)

    def files(self) -> list[str]:
        """Names of the Markdown files of the workspace, without versions and candidates of MEMORY.md; sorted."""
        path = self.workspace.path
        aside = (self.workspace.curated.versions_folder, self.workspace.candidates_folder)
        found = (one for one in path.rglob("*.md") if not any(one.is_relative_to(folder) for folder in aside))
        return sorted(map(self.workspace.relative, found))

    def log(self, day: date | str | None = None) -> DailyLogView:
        """The entries of a day's log.

        Args:
            day: The day, as a date, as `2026-04-12`, or `today`; None for all days.

        Raises:
            ConfigError: The text is no date.
        """
        wanted = self._day(day)
        return DailyLogView(self.workspace.daily_log.entries(wanted), wanted, self._standing)

    # Consolidation and review

    def consolidate(self) -> ConsolidationReport:
        """Merges into MEMORY.md what is not merged yet, now; a change that loses much waits for review.

        Raises:
            ConfigError: This memory has no consolidation.
        """
        if self._consolidating is None:
            raise ConfigError(f"{self!r} has no consolidation.", "Use an agent of a preset that has one.")
        return self._consolidating()

    def pending(self) -> PendingList:
        """Log entries that are not in MEMORY.md yet, and changes that wait for review."""
        return self._keeping.pending()

    def accept(self, number: int | str, entries: Numbers = None) -> Decision:
        """Makes changes of a candidate to MEMORY.md; what was edited there in the meantime stays.

        Args:
            number: The candidate.
            entries: Which of its changes, by number; None for all that are not decided.

        Raises:
            StoreError: There is no such candidate or change, the cap would be exceeded, or a file can't be written.
        """
        decision = self._keeping.review.accept(number, entries)
        self._decided()
        return self._indexed(decision)

    def reject(self, number: int | str, entries: Numbers = None, *, again: bool = False) -> Decision:
        """Forgets changes of a candidate; its log entries stay in the logs and count as merged once all is decided.

        Args:
            number: The candidate.
            entries: Which of its changes, by number; None for all that are not decided.
            again: Only for a whole candidate: the next consolidation merges its log entries anew.

        Raises:
            StoreError: There is no such candidate or change, or a file can't be written.
        """
        decision = self._keeping.review.reject(number, entries, again=again)
        self._decided()
        return decision

    def edit(self, number: int | str, entry: int | str, text: str) -> Change:
        """Replaces the text that a change would give its entry; accept it afterwards.

        Args:
            number: The candidate.
            entry: The change, by number.
            text: The new text, one fact.

        Raises:
            ConfigError: The text is blank, or the change removes its entry.
            StoreError: There is no such candidate or change.
        """
        return self._keeping.review.edit(number, entry, text)

    def versions(self) -> VersionList:
        """MEMORY.md before each replacement, oldest first."""
        return self._keeping.versions()

    def restore(self, number: int | str) -> MemoryText:
        """Makes a version of MEMORY.md the current one; the one that it replaces is kept as a version, too.

        What was merged since then stays in the daily logs and is not merged again by itself.

        Raises:
            StoreError: There is no such version, or a file can't be written.
        """
        self._keeping.restore(number)
        return self._indexed(self.show())

    def _indexed(self, result: T) -> T:
        """Takes MEMORY.md into the index, as soon as that can be done."""
        with suppress(HarnessError):  # the next search sees to it
            self.index.update(self.workspace.curated.path, _REFRESH_SECONDS)
        return result

    def _standing(self, found: Sequence[Entry]) -> list[Standing]:
        return self._keeping.standing(found)

    def status(self) -> MemoryStatus:
        """How the memory stands and where it lies."""
        text = self.workspace.curated.read()
        entries = self.log()
        last = self._last_flush()
        state, warnings = self._index_state()
        known, _ = self._keeping.state()
        return MemoryStatus(
            workspace=str(self.workspace.path),
            memory_chars=len(text),
            memory_lines=len(text_lines(text)),
            log_days=len(self.workspace.daily_log.days()),
            log_entries=len(entries),
            entries_today=sum(entry.date == self.workspace.clock.now().date() for entry in entries),
            sessions=len(self.workspace.sessions()),
            index_path=str(self.workspace.index_path),
            index_state=state,
            pending=len(self._keeping.unmerged()),
            last_consolidation=known.last_success,
            failures=known.failures,
            warnings=(*warnings, *self._keeping.problems()),
            last_flush=last[0] if last else None,
            last_facts=len(last[1].facts) if last else 0,
            last_failure=last[1].failed if last else "",
        )

    def _day(self, day: date | str | None) -> date | None:
        if not isinstance(day, str):
            return day.date() if isinstance(day, datetime) else day
        if day == "today":
            return self.workspace.clock.now().date()
        try:
            return date.fromisoformat(day)
        except ValueError as error:
            raise ConfigError(
                f"{day!r} is no day.", "Give a date such as '2026-04-12', or 'today'.", subject=day
            ) from error

    def _index_state(self) -> tuple[str, tuple[str, ...]]:
        """What the index holds, or what is wrong with it, and its warnings."""
        if not self.index.path.exists():
            return "not built yet", tuple(self.index.warnings)
        try:
            is_current = self.index.refresh(_REFRESH_SECONDS)
            counts = self.index.counts()
        except StoreError as error:
            return error.problem, tuple(self.index.warnings)
        behind = "" if is_current else ", not up to date: another process is writing it"
        return f"{counts['lines']:,} lines of {counts['files']:,} files{behind}", tuple(self.index.warnings)
