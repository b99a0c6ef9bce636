"""What a person asks the memory of an agent: search it, show it, read the logs, see how it stands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING

from harness_nb.errors import ConfigError, StoreError
from harness_nb.memory.flush import FlushOutcome
from harness_nb.memory.pieces import text_lines
from harness_nb.memory.results import DailyLogView, MemoryStatus, MemoryText
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.store.hits import SearchHits
    from harness_nb.store.index import MemoryIndex

_REFRESH_SECONDS = 0.05  # a status does not wait for other writers


class AgentMemory:
    """The durable memory of an agent, `agent.memory`.

    Args:
        workspace: Where it lies.
        index: Searches it.
        last_flush: Gives the last flush and when it ended, or None before the first.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: MemoryIndex,
        last_flush: Callable[[], tuple[datetime, FlushOutcome] | None] = lambda: None,
    ) -> None:
        self.workspace = workspace
        self.index = index
        self._last_flush = last_flush

    def __repr__(self) -> str:
        return f"AgentMemory({self.workspace.name!r})"

    def search(self, query: str | None, limit: int = 10) -> SearchHits:
        """Searches curated memory, logs and sessions; best hits first, none for a blank query.

        Args:
            query: Words in any form; "quotes" keep a phrase together.
            limit: Most hits.
        """
        return self.index.search(query or "", limit=limit)

    def show(self) -> MemoryText:
        """The curated memory."""
        curated = self.workspace.curated
        return MemoryText(self.workspace.relative(curated.path), curated.read())

    def log(self, day: date | str | None = None) -> DailyLogView:
        """The entries of a day's log.

        Args:
            day: The day, as a date, as `2026-04-12`, or `today`; None for all days.

        Raises:
            ConfigError: The text is no date.
        """
        wanted = self._day(day)
        return DailyLogView(self.workspace.daily_log.entries(wanted), wanted)

    def status(self) -> MemoryStatus:
        """How the memory stands and where it lies."""
        text = self.workspace.curated.read()
        entries = self.log()
        last = self._last_flush()
        state, warnings = self._index_state()
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
            warnings=warnings,
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
