"""The maintenance of a workspace: expire, consolidate, prune, reindex; when each is due, and what came of it.

Nothing here starts a thread or sleeps: `tick` does what is due at a given time. `maintenance_thread.py` calls it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from harness_nb.core.config import MaintenanceConfig
from harness_nb.core.events import Event
from harness_nb.errors import HarnessError
from harness_nb.memory.blocking import Blocking
from harness_nb.memory.consolidation_report import ConsolidationReport
from harness_nb.memory.maintenance_report import MaintenanceReport, MaintenanceRuns, MaintenanceStatus, StepResult
from harness_nb.memory.pending import pending
from harness_nb.memory.retention import Cleared, expire, prune
from harness_nb.memory.schedule import Schedule
from harness_nb.memory.upkeep_events import maintenance_event
from harness_nb.store.daily_log import Entry
from harness_nb.store.watermark import ConsolidationState, Watermark
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.store.index import MemoryIndex

Consolidating = Callable[[datetime], Coroutine[Any, Any, ConsolidationReport]]

STEPS = ("expire", "consolidate", "prune", "reindex")
MOST_REPORTS = 100
"""How many past runs are remembered."""


class Maintenance:
    """Keeps one workspace in order.

    Args:
        workspace: The workspace.
        index: Its index.
        config: When, and how long files are kept.
        consolidating: Consolidates at a time.
        run: Runs a coroutine to its end, from a thread without an event loop.

    Attributes:
        heard: Called with an event for each run, and for each consolidation, in the thread that ran it.
        reports: What came of past runs of this kernel, oldest first.
        problem: What is wrong with the state file, or empty.
        fault: What kept the thread from its last look, or empty.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: MemoryIndex,
        config: MaintenanceConfig,
        consolidating: Consolidating,
        *,
        run: Blocking,
    ) -> None:
        self.workspace = workspace
        self.index = index
        self.config = config
        self.heard: Callable[[Event], None] = lambda _: None
        self.reports: list[MaintenanceReport] = []
        self.problem = ""
        self.fault = ""
        self._consolidating = consolidating
        self._run = run
        self._started = workspace.clock.now()
        self._wanted_since: datetime | None = None
        self._last_cycle: datetime | None = None  # known here, too, in case the state file can't be written
        self._running = threading.Lock()
        self._watermark = Watermark(workspace.watermark_path, clock=workspace.clock)

    def __repr__(self) -> str:
        return f"Maintenance({self.workspace.name!r})"

    def request(self, since: datetime | None = None) -> None:
        """Says that there is something to consolidate; it is done as soon as the throttle allows.

        Args:
            since: When it was noted; by default now.
        """
        if self._wanted_since is None:
            self._wanted_since = since or self.workspace.clock.now()

    def answered(self) -> None:
        """A consolidation begins: what was requested so far is seen to, and whoever runs it asks again for what is left."""
        self._wanted_since = None

    def look(self) -> None:
        """Looks for entries that an earlier kernel left, and requests their consolidation."""
        left, _ = self._left()
        if left:
            now = self.workspace.clock.now()
            self.request(min(filter(None, (left[0].moment, now))))

    def schedule(self) -> Schedule:
        """When what is due, by what is known now; a state file that can't be read counts as none."""
        try:
            state, self.problem = self._watermark.read()
        except HarnessError as error:
            state, self.problem = ConsolidationState(), error.problem
        return Schedule(
            config=self.config,
            started=self._started,
            last_cycle=max(filter(None, (state.last_cycle, self._last_cycle)), default=None),
            last_attempt=state.last_attempt,
            failures=state.failures,
            wanted_since=self._wanted_since,
        )

    def tick(self, now: datetime) -> MaintenanceReport | None:
        """Does what is due, if anything is; None when nothing is, or when a run is under way.

        Args:
            now: The aware time.
        """
        due = self.schedule().due(now)
        if due is None or not self._running.acquire(blocking=False):
            return None
        try:
            return self._cycle(now) if due == "cycle" else self._consolidated(now)
        finally:
            self._running.release()

    def run(self, now: datetime | None = None) -> MaintenanceReport:
        """Runs a whole cycle now, whatever the schedule says; waits for one under way first."""
        with self._running:
            return self._cycle(now or self.workspace.clock.now())

    @property
    def runs(self) -> MaintenanceRuns:
        """What came of past runs of this kernel, oldest first."""
        return MaintenanceRuns(self.reports)

    def status(self) -> MaintenanceStatus:
        """Last result of each step, next run, and what is to be done."""
        schedule = self.schedule()
        last = {step.name: step for report in self.reports for step in report.steps}
        left, problem = self._left()
        return MaintenanceStatus(
            steps=tuple(last[name] for name in STEPS if name in last),
            last_cycle=schedule.last_cycle,
            next_cycle=schedule.next_cycle,
            next_consolidation=schedule.next_consolidation,
            failures=schedule.failures,
            pending=len(left),
            is_running=self._running.locked(),
            warnings=tuple(text for text in (self.problem, problem, self.fault) if text),
        )

    def _left(self) -> tuple[tuple[Entry, ...], str]:
        """Entries that are not merged, oldest first, and what kept them from being read."""
        try:
            marks = self._watermark.read()[0].marks
            return pending(self.workspace.daily_log, marks).entries, ""
        except HarnessError as error:
            return (), error.problem

    def _cycle(self, now: datetime) -> MaintenanceReport:
        config = self.config
        steps = (
            self._step("expire", now, lambda: _cleared(expire(self.workspace, config.daily_file_retention_days, now))),
            self._consolidate(now),
            self._step("prune", now, lambda: _cleared(prune(self.workspace, config.session_retention_days, now))),
            self._step("reindex", now, self._reindexed),
        )
        self._last_cycle = now
        try:
            self._watermark.change(lambda known: replace(known, last_cycle=now))
        except HarnessError as error:
            self.problem = error.problem
        return self._reported(MaintenanceReport(time=now, due="cycle", steps=steps))

    def _consolidated(self, now: datetime) -> MaintenanceReport:
        """A consolidation, and the index brought up to date with what it wrote."""
        steps = (self._consolidate(now), self._step("reindex", now, self._reindexed))
        return self._reported(MaintenanceReport(time=now, due="consolidation", steps=steps))

    def _consolidate(self, now: datetime) -> StepResult:
        return self._step("consolidate", now, lambda: _merged(self._run(self._consolidating(now))))

    def _reindexed(self) -> StepResult:
        if self.index.refresh():
            return StepResult(name="reindex", outcome="done")
        return StepResult(name="reindex", outcome="busy", detail="Another process is writing the index.")

    def _step(self, name: str, now: datetime, work: Callable[[], StepResult]) -> StepResult:
        """Runs a step; whatever goes wrong in it is its result."""
        try:
            done = work()
        except HarnessError as error:
            done = StepResult(name=name, outcome="failed", detail=self.workspace.clean(error.problem))
        except Exception as error:  # noqa: BLE001 - a fault of one step never keeps the others or the schedule from going on
            said = self.workspace.clean(f"{type(error).__name__}: {error}")
            done = StepResult(name=name, outcome="failed", detail=said)
        return replace(done, name=name, time=now)

    def _reported(self, report: MaintenanceReport) -> MaintenanceReport:
        self.reports = [*self.reports, report][-MOST_REPORTS:]
        self.heard(maintenance_event(report))
        return report


def _cleared(found: Cleared) -> StepResult:
    outcome: Literal["done", "nothing"] = "done" if found.names else "nothing"
    return StepResult(name="", outcome=outcome, files=found.names, stayed=found.stayed)


def _merged(report: ConsolidationReport) -> StepResult:
    outcome = "done" if report.outcome == "applied" else report.outcome
    detail = report.summary if report.outcome == "applied" else report.reason
    return StepResult(name="", outcome=outcome, detail=detail, report=report)
