"""Gemini CLI's durable memory: context files of the user, of the user in this project, and of the project.

They stand in the prompt whole, as they were when the session began or something of the inbox was accepted. The model writes
them with tools; sessions that ended may be mined for more, which waits in the inbox until a person accepts it.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from harness_nb.core.blocks import block
from harness_nb.core.config import MaintenanceConfig
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.designs.gemini_cli.config import DEFAULT_NAME, GeminiCliMemoryConfig
from harness_nb.memory.designs.gemini_cli.inbox import Inbox
from harness_nb.memory.designs.gemini_cli.places import places_of
from harness_nb.memory.designs.gemini_cli.review import GeminiCliReview
from harness_nb.memory.designs.gemini_cli.tiers import Shown, Tiers
from harness_nb.memory.designs.gemini_cli.tools import prompt_tools, reading_tool, save_tool
from harness_nb.memory.injection import Injection
from harness_nb.memory.tools import memory_tools

if TYPE_CHECKING:
    from harness_nb.memory.consolidation_report import ConsolidationReport
    from harness_nb.memory.designs.gemini_cli.mining import Mined
    from harness_nb.memory.maintenance import Maintenance

_NOTE = (
    "Context files of the user and of the project. They are information. Where they disagree, a file nearer to what you work "
    "on holds: of a sub-directory, then of the project, then the user's own."
)
_ROUTING = (
    "When the user wants something remembered, write it with write_file or replace, in exactly one place: {private}/MEMORY.md "
    "for notes on this project that are the user's alone (longer ones in files beside it, which it names); {own} for what holds "
    f"in every project; {DEFAULT_NAME} in the project or in a folder of it for what the team agrees on. Ask when it is not "
    "plain which. Never note passing states or a report of what you did. There is no tool save_memory."
)
_SAVING = "When the user wants something remembered, save it with save_memory."


class GeminiCliMemory(NoMemory):
    """Context files below `gemini/` and in the project, tools that write them, and an inbox.

    Args:
        parts: What it is made from.
        settings: Its own.

    Attributes:
        inbox: Changes that wait for a person.
    """

    def __init__(self, parts: DesignParts, *, settings: GeminiCliMemoryConfig | None = None) -> None:
        super().__init__(parts)
        self.settings = settings or GeminiCliMemoryConfig()
        self.places = places_of(parts.workspace, self.settings)
        self.inbox = Inbox(self.places)
        self._run = parts.run
        self._upkeep = parts.maintenance
        self._session = ""
        self._tiers = Tiers(self.places, self.settings)
        self._files: tuple[Shown, ...] = ()
        self._problem = ""
        self._review = GeminiCliReview(
            parts.workspace,
            parts.index,
            self.inbox,
            config=parts.config,
            consolidating=lambda: self._run(self.consolidate()),
            reloaded=self.reload,
        )
        self.reload()

    @property
    def memory(self) -> GeminiCliReview:
        """What a person can ask of it."""
        return self._review

    @property
    def maintenance(self) -> Maintenance | None:
        """What mines sessions and deletes old ones; None where neither is wanted."""
        return self._kept_in_order if self._upkeep is not None or self.settings.auto_memory else None

    @cached_property
    def _kept_in_order(self) -> Maintenance:
        from harness_nb.memory.maintenance import Maintenance  # only when it is used, as importing has to be quick

        config = self._upkeep or MaintenanceConfig()
        return Maintenance(self.workspace, self.index, config, self.consolidate, run=self._run)

    def begin(self, session: str) -> None:
        """Reads the files for the session, and lets sessions that ended be mined soon where that is switched on."""
        self._session = session
        self.reload()
        if self.settings.auto_memory and session:
            upkeep = self._kept_in_order
            upkeep.request(self.workspace.clock.now() - upkeep.config.min_gap)

    def reload(self) -> None:
        """Reads the files again."""
        try:
            self._files, self._problem = self._tiers.load(), ""
        except StoreError as error:
            self._files, self._problem = (), error.problem

    def injection(self, counter: TokenCounter) -> Injection:
        """All context files, whole, and where to write."""
        if not self.config.inject:
            return Injection()
        text = "\n\n".join(map(str, self._files))
        guidance = self._guidance if self.config.tools else ""
        if not (text or guidance):
            return Injection(problem=self._problem)
        whole = block("memory", text or "(no context file yet)", note=f"{_NOTE} {guidance}".rstrip())
        lines = sum(len(shown.text.splitlines()) for shown in self._files)
        return Injection(text=whole, tokens=counter.count_text(whole), lines=lines, problem=self._problem)

    def tools(self) -> tuple[Tool, ...]:
        """`read_file`, and the tools of the writer: `write_file`, `replace` and `list_directory`, or `save_memory`."""
        if not self.config.tools:
            return ()
        touched = self._tiers.touched
        reading = next(tool for tool in memory_tools(self.workspace, self.index) if tool.name == "read_file")
        is_prompted = self.settings.writer == "prompt_edit"
        writing = prompt_tools(self.places, touched) if is_prompted else (save_tool(self.places),)
        return (reading_tool(self.places, reading, touched), *writing)

    async def consolidate(self, now: datetime | None = None) -> ConsolidationReport:
        """Mines sessions that ended; never raises for a failure.

        Args:
            now: The aware time of the run; by default the workspace clock's.
        """
        from harness_nb.memory.designs.gemini_cli.mining import Mined, Mining

        moment = now or self.workspace.clock.now()
        if self.maintenance is not None:
            self.maintenance.answered()
        mining = Mining(self.inbox, self.model, self.settings, lambda session: session == self._session)
        try:
            mined = await mining.run(moment)
        except StoreError as error:
            mined = Mined(outcome="failed", reason=error.problem)
        return self._reported(mined, moment)

    def _reported(self, mined: Mined, moment: datetime) -> ConsolidationReport:
        from harness_nb.memory.consolidation_report import ConsolidationReport
        from harness_nb.memory.upkeep_events import consolidation_event

        waiting = self._review.pending().candidates if mined.outcome == "waiting" else ()
        report = ConsolidationReport(
            outcome=mined.outcome,
            reason=mined.reason,
            changes=waiting[0].changes if waiting else (),
            candidate=waiting[0].number if waiting else None,
            model_calls=mined.calls,
        )
        if self.maintenance is not None:
            self.maintenance.heard(consolidation_event(report, moment))
        return report

    @property
    def _guidance(self) -> str:
        if self.settings.writer == "save_memory_append":
            return _SAVING
        names = (self.workspace.relative(one) for one in (self.places.private_folder, self.places.global_file))
        private, own = names
        return _ROUTING.format(private=private, own=own)
