"""When the maintenance of a workspace is due: a pure reckoning over times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from harness_nb.core.config import MaintenanceConfig

Due = Literal["cycle", "consolidation"]

_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When something is due.

    Attributes:
        config: Interval and least gap.
        started: When this began to watch the workspace.
        last_cycle: When a whole cycle last ended, or None.
        last_attempt: When a consolidation was last tried, or None.
        failures: Attempts that failed since the last success; each doubles the gap, up to the interval.
        wanted_since: When the oldest fact that is not merged was noted, or None.
    """

    config: MaintenanceConfig
    started: datetime
    last_cycle: datetime | None = None
    last_attempt: datetime | None = None
    failures: int = 0
    wanted_since: datetime | None = None

    @property
    def next_cycle(self) -> datetime:
        """When the next whole cycle is due."""
        return (self.last_cycle or self.started) + self.config.interval

    @property
    def next_consolidation(self) -> datetime | None:
        """When a consolidation that is wanted is due; None when none is wanted. A request is delayed, never dropped."""
        if self.wanted_since is None:
            return None
        wanted = self.wanted_since + self.config.min_gap
        return wanted if self.last_attempt is None else max(wanted, self.last_attempt + self.gap)

    @property
    def gap(self) -> timedelta:
        """Least time from one attempt to the next."""
        doubled: timedelta = self.config.min_gap * (1 << min(self.failures, _MOST_DOUBLINGS))
        return max(self.config.min_gap, min(doubled, self.config.interval))

    @property
    def next_run(self) -> datetime:
        """When anything is due."""
        return min(filter(None, (self.next_cycle, self.next_consolidation)))

    def due(self, now: datetime) -> Due | None:
        """What is due by now; a cycle includes a consolidation."""
        if self.next_cycle <= now:
            return "cycle"
        wanted = self.next_consolidation
        return "consolidation" if wanted is not None and wanted <= now else None
