"""What came of the maintenance, and how it stands: records that show themselves and have a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from harness_nb.memory.consolidation_report import ConsolidationReport
from harness_nb.memory.results import Displayed, counted

if TYPE_CHECKING:
    from pandas import DataFrame

StepOutcome = Literal["done", "nothing", "waiting", "busy", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What came of one step.

    Attributes:
        name: `expire`, `consolidate`, `prune` or `reindex`.
        outcome: `done`, `nothing` (there was nothing to do), `waiting` (for review), `busy` (another process is at it) or
            `failed`.
        detail: In words; of a failure, why.
        files: Files that were moved or deleted, relative to the workspace.
        stayed: Files that are old enough and stayed, each with the reason behind it.
        time: When.
        report: Of a consolidation, what came of it.
    """

    name: str
    outcome: StepOutcome
    detail: str = ""
    files: tuple[str, ...] = ()
    stayed: tuple[str, ...] = ()
    time: datetime | None = None
    report: ConsolidationReport | None = None

    @property
    def words(self) -> str:
        """What there is to say beside the outcome: details, files that were moved or deleted, files that stayed; or empty."""
        said = [self.detail] if self.detail else []
        said += [counted(len(self.files), "file") + ": " + ", ".join(self.files)] if self.files else []
        said += ["stayed: " + ", ".join(self.stayed)] if self.stayed else []
        return "; ".join(said)

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}" + (f" ({self.words})" if self.words else "")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MaintenanceReport(Displayed):
    """What came of one run.

    Attributes:
        time: When it ran.
        due: What was due: a whole `cycle`, or a `consolidation`.
        steps: What came of each step, in the order run.
    """

    time: datetime
    due: str
    steps: tuple[StepResult, ...]

    def __repr__(self) -> str:
        return f"MaintenanceReport({', '.join(f'{step.name}: {step.outcome}' for step in self.steps)})"

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))

    def __getitem__(self, name: str) -> StepResult:
        """The result of a step."""
        return next(step for step in self.steps if step.name == name)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each step."""
        return [_record(step) | {"due": self.due} for step in self.steps]

    @property
    def df(self) -> DataFrame:
        """One row a step."""
        from harness_nb.frames import maintenance_frame

        return maintenance_frame(self.records)


class MaintenanceRuns(Displayed, Sequence[MaintenanceReport]):
    """Past runs, oldest first.

    Args:
        reports: What came of each.
    """

    __slots__ = ("_reports",)

    def __init__(self, reports: Sequence[MaintenanceReport]) -> None:
        self._reports = tuple(reports)

    def __getitem__(self, at: Any) -> Any:
        return MaintenanceRuns(self._reports[at]) if isinstance(at, slice) else self._reports[at]

    def __len__(self) -> int:
        return len(self._reports)

    def __iter__(self) -> Iterator[MaintenanceReport]:
        return iter(self._reports)

    def __repr__(self) -> str:
        return f"MaintenanceRuns({counted(len(self), 'run')})"

    def __str__(self) -> str:
        return "\n".join(f"{report.time:%Y-%m-%d %H:%M} {report!r}" for report in self) or "Nothing has run yet."

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each step of each run."""
        return [record | {"run": number} for number, report in enumerate(self, 1) for record in report.records]

    @property
    def df(self) -> DataFrame:
        """One row a step of a run."""
        from harness_nb.frames import maintenance_frame

        return maintenance_frame(self.records)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MaintenanceStatus(Displayed):
    """How the maintenance stands.

    Attributes:
        steps: Last result of each step.
        last_cycle: When a whole cycle last ended, in any kernel, or None.
        next_cycle: When the next one is due.
        next_consolidation: When a consolidation that is wanted is due, or None when none is wanted.
        failures: Consolidations that failed since the last one that did not.
        pending: Log entries that are not merged yet.
        is_running: Whether a run is under way.
        warnings: What the user should know.
    """

    steps: tuple[StepResult, ...] = ()
    last_cycle: datetime | None = None
    next_cycle: datetime | None = None
    next_consolidation: datetime | None = None
    failures: int = 0
    pending: int = 0
    is_running: bool = False
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"MaintenanceStatus({counted(self.pending, 'log entry', 'log entries')} pending)"

    def __str__(self) -> str:
        width = max(len(record["name"]) for record in self.records)
        return "\n".join(f"{record['name']:<{width}}  {record['value']}" for record in self.records)

    @property
    def records(self) -> list[dict[str, str]]:
        """Name and value of each line that is shown."""
        shown = {
            "pending": counted(self.pending, "log entry", "log entries"),
            "last cycle": _when(self.last_cycle, "none yet"),
            "next cycle": _when(self.next_cycle, "off"),
            "next consolidation": _when(self.next_consolidation, "with the next cycle"),
        }
        shown |= {"failed in a row": f"{self.failures}"} if self.failures else {}
        shown |= {step.name: str(step).partition(": ")[2] for step in self.steps}
        warnings = [{"name": "warning", "value": text} for text in self.warnings]
        return [{"name": name, "value": value} for name, value in shown.items()] + warnings

    @property
    def df(self) -> DataFrame:
        """One row a line that is shown."""
        from harness_nb.frames import status_frame

        return status_frame(self.records)


def _when(moment: datetime | None, otherwise: str) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment is not None else otherwise


def _record(step: StepResult) -> dict[str, Any]:
    names = ("name", "outcome", "detail", "files", "stayed", "time")
    return {"step" if name == "name" else name: getattr(step, name) for name in names}
