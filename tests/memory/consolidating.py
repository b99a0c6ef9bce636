"""What tests of the consolidation share: notes, a run, and the files as they are afterwards."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from harness_nb.core.config import MemoryConfig
from harness_nb.memory.consolidation import consolidate
from harness_nb.memory.consolidation_report import ConsolidationReport
from harness_nb.model.base import Model
from harness_nb.model.offline import OfflineModel
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.daily_log import Fact
from harness_nb.store.watermark import ConsolidationState, Watermark
from harness_nb.store.workspace import Workspace


def noted(store: Workspace, *facts: str, day: int = 12) -> None:
    """Notes facts on a day of April 2026."""
    store.daily_log.append([Fact(fact) for fact in facts], now=datetime(2026, 4, day, 9, tzinfo=UTC))


def run(
    store: Workspace, *replies: Any, model: Model | None = None, timeout: float = 60, **settings: Any
) -> ConsolidationReport:
    """Consolidates with a model that gives some replies; with the offline one where there are none."""
    asked = model or (ScriptedModel(consolidation=list(replies)) if replies else OfflineModel())
    return asyncio.run(consolidate(asked, store, MemoryConfig(**settings), timeout_seconds=timeout))


def state_of(store: Workspace) -> ConsolidationState:
    """The state file."""
    return Watermark(store.watermark_path, clock=store.clock).read()[0]


def listed(count: int, first: int = 0) -> str:
    """A file of so many entries that have nothing in common."""
    words = ("solver", "mice", "budget", "cluster", "paper", "license", "sensor", "ticket", "invoice", "rota")
    return "".join(f"- {words[n % 10]} number {n} is kept in box {n * 7}\n" for n in range(first, first + count))
