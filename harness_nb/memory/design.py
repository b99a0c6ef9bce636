"""Memory designs: what is injected, which tools the model gets and what is written, as the agent's loop sees it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.core.messages import Message
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError
from harness_nb.memory.blocking import Blocking, in_thread
from harness_nb.memory.injection import Injection, memory_section
from harness_nb.memory.recall import AgentMemory
from harness_nb.memory.tools import memory_tools
from harness_nb.model.base import Model
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.memory.consolidation_report import ConsolidationReport
    from harness_nb.memory.flush import FlushOutcome
    from harness_nb.memory.maintenance import Maintenance
    from harness_nb.store.index import MemoryIndex

_INDEX_SECONDS = 0.25  # longest wait for other writers after a flush; a search takes in the log by itself

Stamp = tuple[int, int, int] | None
"""Inode, time of change and size of a file, or None where there is none."""


class MemoryDesign(Protocol):
    """What the agent's loop needs of a durable memory."""

    @property
    def memory(self) -> AgentMemory:
        """What a person can ask of it."""
        ...

    @property
    def maintenance(self) -> Maintenance | None:
        """What keeps it in order in the background and by hand; None where there is nothing to keep."""
        ...

    @property
    def flushes_after_turn(self) -> bool:
        """Whether the loop is to flush after each turn; before a compaction the compaction's own setting counts."""
        ...

    def begin(self, session: str) -> None:
        """A session was opened: the moment for what is read once a session."""
        ...

    def asked(self, text: str) -> None:
        """A turn begins with these words of the user: the moment for what is picked by them. Never raises for a failure."""
        ...

    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model gets."""
        ...

    def injection(self, counter: TokenCounter) -> Injection:
        """What stands in the next model input. Called at each request."""
        ...

    def remember(self, texts: tuple[str, ...]) -> None:
        """Keeps what a policy archives, in the order given."""
        ...

    async def flush(
        self, messages: Sequence[tuple[int, Message]], *, session: str, now: datetime | None = None
    ) -> FlushOutcome:
        """Notes what is worth keeping of some messages; never raises for a failure, but says so."""
        ...


class TwoLayers:
    """Two layers: facts are flushed to daily logs, and merged into MEMORY.md, the curated layer, which is injected.

    Args:
        workspace: Holds both layers.
        index: Searches them.
        model: Extracts the facts, and merges them.
        config: Settings.
        maintenance: When the memory is put in order, and how long files are kept.
        run: Runs a coroutine to its end, from blocking code.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: MemoryIndex,
        model: Model,
        config: MemoryConfig | None = None,
        *,
        maintenance: MaintenanceConfig | None = None,
        run: Blocking = in_thread,
    ) -> None:
        self.workspace = workspace
        self.index = index
        self.model = model
        self.config = config or MemoryConfig()
        self._run = run
        self._upkeep = maintenance or MaintenanceConfig()
        self._injected: tuple[tuple[Stamp, str], Injection] | None = None
        self._last_flush: tuple[datetime, FlushOutcome] | None = None
        self._memory = AgentMemory(
            workspace,
            index,
            lambda: self._last_flush,
            consolidating=lambda: self._run(self.consolidate()),
            decided=lambda: self.maintenance.look(),
            config=self.config,
        )
        self._tools = memory_tools(workspace, index, lambda: self.maintenance.request()) if self.config.tools else ()

    def __repr__(self) -> str:
        return f"TwoLayers({self.workspace.name!r})"

    @property
    def memory(self) -> AgentMemory:
        """What a person can ask of it."""
        return self._memory

    @cached_property
    def maintenance(self) -> Maintenance:
        """What keeps it in order."""
        from harness_nb.memory.maintenance import Maintenance  # only when it is used, as importing has to be quick

        return Maintenance(self.workspace, self.index, self._upkeep, self.consolidate, run=self._run)

    @property
    def flushes_after_turn(self) -> bool:
        """Whether `flush` is `always` or `throttled`."""
        return self.config.flush != "never"

    def begin(self, session: str) -> None:
        """Nothing is read once a session: MEMORY.md is shown as it is."""

    def asked(self, text: str) -> None:
        """Nothing is picked by the user's words."""

    def tools(self) -> tuple[Tool, ...]:
        """The memory tools and `read_file`, or none when they are switched off."""
        return self._tools

    def injection(self, counter: TokenCounter) -> Injection:
        """MEMORY.md in a marked block, made again only when the file changed; empty when it is switched off.

        A file that can't be read is not injected; `problem` says why.
        """
        if not self.config.inject:
            return Injection()
        curated = self.workspace.curated
        key = (_stamp(curated.path), counter.name)
        if self._injected is None or self._injected[0] != key:
            self._injected = (key, self._made(counter))
        return self._injected[1]

    def _made(self, counter: TokenCounter) -> Injection:
        try:
            text = self.workspace.curated.read()
        except StoreError as error:
            return Injection(problem=error.problem)
        most, can_search = self.config.max_injected_tokens, self.config.tools
        return memory_section(text, max_tokens=most, counter=counter, can_search=can_search)

    def remember(self, texts: tuple[str, ...]) -> None:
        """Takes nothing: facts come from what was said."""

    async def flush(
        self, messages: Sequence[tuple[int, Message]], *, session: str, now: datetime | None = None
    ) -> FlushOutcome:
        """Notes the facts in some messages in today's log and brings the index up to date.

        Never raises for a failure. One flush of a session runs at a time; the caller sees to it and keeps `upto`.

        Args:
            messages: Messages with their log indices, in order, from the last outcome's `upto` on.
            session: Id of the session.
            now: The aware time of the entries; by default the workspace clock's.
        """
        moment = now or self.workspace.clock.now()
        from harness_nb.memory.flush import flush  # only when it is used, as importing has to be quick

        outcome = await flush(self.model, self.workspace, messages, session=session, now=moment)
        if outcome.path:
            outcome = replace(outcome, warning=self._indexed(outcome.path))
            self.maintenance.request(moment)
        self._last_flush = (moment, outcome)
        return outcome

    async def consolidate(self, now: datetime | None = None) -> ConsolidationReport:
        """Merges new log entries into MEMORY.md and brings the index up to date; never raises for a failure.

        Args:
            now: The aware time of the run; by default the workspace clock's.
        """
        from harness_nb.memory.consolidation import consolidate
        from harness_nb.memory.upkeep_events import consolidation_event

        moment = now or self.workspace.clock.now()
        self.maintenance.answered()
        report = await consolidate(self.model, self.workspace, self.config, now=moment)
        if report.entries and (warning := self._indexed(self.workspace.curated.path.name)):
            report = replace(report, warnings=(*report.warnings, warning))
        if report.outcome in ("failed", "busy") or (report.pending and report.outcome == "applied"):
            self.maintenance.request(moment)
        self.maintenance.heard(consolidation_event(report, moment))
        return report

    def _indexed(self, path: str) -> str:
        """Takes a file into the index; what is wrong when it can't be done now."""
        try:
            self.index.update(path, _INDEX_SECONDS)
        except Exception as error:  # the file is written: whatever ails the index, that counts
            return f"The index did not take in {path!r} yet: {type(error).__name__}: {error}"
        return ""


def _stamp(path: str | os.PathLike[str]) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
