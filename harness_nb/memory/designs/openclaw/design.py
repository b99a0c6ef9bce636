"""OpenClaw's durable memory, live: injected files, notes before a compaction, hybrid search, and dreaming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from harness_nb.core.config import MaintenanceConfig
from harness_nb.core.messages import Message
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, StoreError
from harness_nb.memory.candidate import Candidate, stored_candidates
from harness_nb.memory.changes import differences
from harness_nb.memory.consolidation_report import ConsolidationReport
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.designs.openclaw.bootstrap import bootstrap, startup
from harness_nb.memory.designs.openclaw.config import (
    OpenClawDreamingConfig,
    OpenClawMemoryConfig,
    OpenClawSearchConfig,
)
from harness_nb.memory.designs.openclaw.dreaming import Night, diary, dreamt, promotion, with_promotion
from harness_nb.memory.designs.openclaw.evidence import FILE_NAME, EvidenceFile, evidence_of
from harness_nb.memory.designs.openclaw.ranking import Row
from harness_nb.memory.designs.openclaw.search import NoteSearch, Vector
from harness_nb.memory.designs.openclaw.tools import note_tools
from harness_nb.memory.flush import FlushOutcome, flush
from harness_nb.memory.injection import Injection
from harness_nb.memory.maintenance import Maintenance
from harness_nb.memory.recall import AgentMemory
from harness_nb.memory.tools import memory_tools
from harness_nb.store.candidates import CandidateFiles
from harness_nb.store.files import append_text
from harness_nb.store.names import safe_name
from harness_nb.store.semantic import is_available, vectors
from harness_nb.store.watermark import Watermark, content_hash

_INDEX_SECONDS = 0.25
_FOLDER = "memory/.dreams"


class OpenClawMemory(NoMemory):
    """MEMORY.md, daily notes and topics below `memory/`, all plain Markdown.

    Args:
        parts: What it is made from.
        settings: Files and injection.
        search: The search.
        dreaming: What is promoted.

    Attributes:
        notes: Searches them.
    """

    def __init__(
        self,
        parts: DesignParts,
        settings: OpenClawMemoryConfig | None = None,
        search: OpenClawSearchConfig | None = None,
        dreaming: OpenClawDreamingConfig | None = None,
    ) -> None:
        super().__init__(parts)
        self.settings = settings or OpenClawMemoryConfig()
        self.dreaming = dreaming or OpenClawDreamingConfig()
        chosen = search or OpenClawSearchConfig()
        embedding = _embedded if chosen.embeddings == "auto" and is_available() else None
        self.notes = NoteSearch(parts.workspace.path, chosen, embedding)
        self._evidence = EvidenceFile(parts.workspace.path / _FOLDER / FILE_NAME)
        self._startup = ""
        self._run = parts.run
        keeping = parts.maintenance or MaintenanceConfig()
        self._maintenance = Maintenance(parts.workspace, parts.index, keeping, self._nightly, run=parts.run)
        self._dreamt: datetime | None = None
        self._last_flush: tuple[datetime, FlushOutcome] | None = None
        self._memory = AgentMemory(
            parts.workspace,
            parts.index,
            lambda: self._last_flush,
            consolidating=lambda: self._run(self.dream()),
            config=self.config,
        )

    @property
    def maintenance(self) -> Maintenance:
        """What dreams at night, where that is on, and by hand."""
        return self._maintenance

    def begin(self, session: str) -> None:
        """Reads the notes of the last days, for a session that is new."""
        known = self.workspace.agents_folder.glob(f"*/sessions/{safe_name(session)}.log.jsonl") if session else ()
        is_new = bool(session) and not any(path.stat().st_size for path in known)
        now = self.workspace.clock.now()
        self._startup = startup(self.workspace.memory_folder, now, self.settings) if is_new else ""

    def injection(self, counter: TokenCounter) -> Injection:
        """The workspace's files as they are, and the notes that the session began with."""
        if not self.config.inject or self.settings.context_injection == "never":
            return Injection()
        try:
            files = bootstrap(self.workspace.path, self.settings)
        except StoreError as error:
            return Injection(problem=error.problem)
        text = "\n\n".join(filter(None, (files, self._startup)))
        return Injection(text=text, tokens=counter.count_text(text) if text else 0, lines=text.count("\n"))

    def tools(self) -> tuple[Tool, ...]:
        """`memory_search`, `memory_get`, `read`, `write`, `edit`, and `read_file` for large results."""
        if not self.config.tools:
            return ()
        large = (tool for tool in memory_tools(self.workspace, self.index) if tool.name == "read_file")
        return (*note_tools(self.workspace, self.search), *large)

    async def flush(
        self, messages: Sequence[tuple[int, Message]], *, session: str, now: datetime | None = None
    ) -> FlushOutcome:
        """Notes in today's daily note what is worth keeping of messages that are about to leave; never raises."""
        moment = now or self.workspace.clock.now()
        if not self.settings.memory_flush:
            return await super().flush(messages, session=session, now=now)
        outcome = await flush(self.model, self.workspace, messages, session=session, now=moment)
        if outcome.path:
            outcome = replace(outcome, warning=self._indexed(outcome.path))
        self._last_flush = (moment, outcome)
        return outcome

    def _indexed(self, path: str) -> str:
        try:
            self.index.update(path, _INDEX_SECONDS)
        except Exception as error:  # the note is written: whatever ails the index, that counts
            return f"The index did not take in {path!r} yet: {type(error).__name__}: {error}"
        return ""

    # Search

    def search(
        self, question: str, max_results: int | None = None, min_score: float | None = None, corpus: str = "memory"
    ) -> list[Row]:
        """The best chunks of the notes, or messages of sessions, best first.

        Args:
            question: What to look for.
            max_results: Most hits; None as set.
            min_score: Least score; None as set.
            corpus: `memory`, `sessions` or `all`.

        Raises:
            StoreError: The notes can't be read.
        """
        now = self.workspace.clock.now()
        most = self.notes.config.max_results if max_results is None else max_results
        rows = [] if corpus == "sessions" else self.notes.search(question, now, max_results=most, min_score=min_score)
        if self.dreaming.dreaming:
            self._recalled(question, rows, now)
        return rows if corpus == "memory" else [*rows, *self._said(question, most - len(rows))]

    def _said(self, question: str, most: int) -> list[Row]:
        """Messages of sessions that a question finds."""
        if most <= 0 or not question.strip():
            return []
        hits = self.index.search(question, limit=most, kinds=("session",))
        return [
            Row(
                key=f"{hit.path}:{hit.line}",
                path=hit.path,
                start_line=hit.line,
                end_line=hit.line,
                snippet=hit.snippet,
                source="sessions",
            )
            for hit in hits
        ]

    def _recalled(self, question: str, rows: Sequence[Row], now: datetime) -> None:
        """Notes what a search found in daily notes; a file that can't be written costs no search."""
        daily = [row for row in rows if row.path.startswith("memory/") and row.path[7:11].isdigit()]
        if not daily:
            return
        try:
            known = self._evidence.read()
            for row in daily:
                new = evidence_of(row.path, row.start_line, row.snippet)
                known[new.key] = known.get(new.key, new).seen("recalls", question, min(1.0, row.score), now)
            self._evidence.write(known.values())
        except StoreError as error:
            self._maintenance.fault = error.problem

    # Dreaming

    async def _nightly(self, now: datetime) -> ConsolidationReport:
        """Dreams once a night, where that is on."""
        local = now.astimezone(self.workspace.clock.now().tzinfo)
        if not self.dreaming.dreaming:
            return ConsolidationReport(outcome="nothing", reason="Dreaming is off.")
        if self._dreamt is not None and self._dreamt.date() == local.date():
            return ConsolidationReport(outcome="nothing", reason="It dreamt on this day already.")
        return await self.dream(local)

    async def dream(self, now: datetime | None = None) -> ConsolidationReport:
        """Reads the notes, and proposes for MEMORY.md what recurs; never raises for a file.

        Args:
            now: The aware time; by default the workspace clock's.
        """
        moment = now or self.workspace.clock.now()
        try:
            return self._dream(moment)
        except HarnessError as error:
            return ConsolidationReport(outcome="failed", reason=error.problem)

    def _dream(self, now: datetime) -> ConsolidationReport:
        night = dreamt(self.workspace.path, self._evidence.read(), now, self.dreaming)
        files = CandidateFiles(self.workspace.candidates_folder)
        waiting, _ = stored_candidates(files)
        if waiting and night.promoted:
            told = f"Candidate {waiting[0].number} waits for review."
            return ConsolidationReport(outcome="waiting", reason=told, candidate=waiting[0].number)
        self._evidence.write(night.evidence.values())
        append_text(self.workspace.path / "DREAMS.md", self.workspace.clean(f"\n{diary(night, now)}"))
        self._dreamt = now
        if not night.promoted:
            return ConsolidationReport(outcome="nothing", reason="Nothing in the notes passed the gates.")
        return self._promoted(night, files, now)

    def _promoted(self, night: Night, files: CandidateFiles, now: datetime) -> ConsolidationReport:
        """Writes what passed the gates, or lets it wait for the user."""
        base = self.workspace.curated.read()
        section = promotion(night.promoted, now, self.dreaming)
        change = partial(with_promotion, section=section, budget_chars=self.dreaming.budget_chars)
        text = self.workspace.clean(change(base))
        changes = differences(base, text)
        if not changes:
            return ConsolidationReport(outcome="nothing", reason="MEMORY.md says all of it already.")
        if not self.dreaming.dreaming_review:
            self.workspace.curated.change(change)
            self._indexed(self.workspace.curated.path.name)
            return ConsolidationReport(outcome="applied", entries=len(night.promoted), changes=changes)
        mark = Watermark(self.workspace.watermark_path, clock=self.workspace.clock)
        there = max(files.numbers(), default=0)
        state = mark.change(lambda known: replace(known, last_candidate=max(known.last_candidate, there) + 1))
        candidate = Candidate(
            number=state.last_candidate,
            created=now,
            reason="what recurs in the notes is promoted after review",
            base_hash=content_hash(base),
            text=text,
            changes=changes,
            entries=len(night.promoted),
        )
        files.save(candidate.number, candidate.to_record())
        told = f"Candidate {candidate.number} waits for review: {candidate.reason}."
        return ConsolidationReport(outcome="waiting", reason=told, candidate=candidate.number, changes=changes)


def _embedded(texts: Sequence[str]) -> list[Vector]:
    return [row.tolist() for row in vectors(texts)]
