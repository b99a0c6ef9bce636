"""The consolidation: new log entries are merged into MEMORY.md by a model, checked, and applied or kept for review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter, TokenCounter
from harness_nb.errors import HarnessError, SessionBusyError
from harness_nb.memory.candidate import Candidate, stored_candidates
from harness_nb.memory.changes import with_changes
from harness_nb.memory.consolidation_report import ConsolidationOutcome, ConsolidationReport
from harness_nb.memory.pending import Batch, Pending, pending
from harness_nb.memory.proposing import Proposal, Proposer
from harness_nb.memory.rewriting import capped
from harness_nb.model.base import Model
from harness_nb.store.candidates import CandidateFiles
from harness_nb.store.claims import Claim
from harness_nb.store.watermark import Watermark, content_hash
from harness_nb.store.workspace import Workspace

TIMEOUT_SECONDS = 180.0
"""Longest wait for one reply."""

MAX_BATCHES = 10
"""Most batches of one run; what is left is merged by the next one."""


async def consolidate(
    model: Model,
    workspace: Workspace,
    config: MemoryConfig,
    *,
    now: datetime | None = None,
    counter: TokenCounter | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> ConsolidationReport:
    """Merges what was noted since the last time into MEMORY.md, batch by batch.

    Never raises for a model, a reply or a file that fails: the report says so, and what was not merged is pending still.
    Only one runs in a workspace at a time, over all processes.

    Args:
        model: Writes the new file.
        workspace: Holds logs and MEMORY.md.
        config: Cap, batch size and when a change waits for review.
        now: The aware time of the run; by default the workspace clock's.
        counter: Counts tokens; four characters each by default.
        timeout_seconds: Longest wait for one reply.
    """
    try:
        claim = Claim(workspace.memory_folder / "consolidation", "The consolidation")
    except SessionBusyError:
        return ConsolidationReport(outcome="busy", reason="Another consolidation of this workspace is running.")
    except HarnessError as error:
        return ConsolidationReport(outcome="failed", reason=error.problem)
    measure = counter or CharsCounter()
    proposer = Proposer(
        model=model, config=config, counter=measure, clean=workspace.clean, timeout_seconds=timeout_seconds
    )
    try:
        return await _Run(proposer, workspace, now or workspace.clock.now()).all()
    finally:
        claim.release()


class _Run:
    """One consolidation; the report grows as it goes."""

    def __init__(self, proposer: Proposer, workspace: Workspace, now: datetime) -> None:
        self.proposer = proposer
        self.config = proposer.config
        self.workspace = workspace
        self.now = now
        self.files = CandidateFiles(workspace.candidates_folder)
        self.watermark = Watermark(workspace.watermark_path, clock=workspace.clock)
        self.report = ConsolidationReport(outcome="nothing", reason="Every log entry is merged.")

    async def all(self) -> ConsolidationReport:
        """Merges batch after batch until nothing is left, one waits, or one fails."""
        try:
            finish_what_a_crash_left(self.workspace, now=self.now)
            size = self._size(self.workspace.curated.read())
            self.report = replace(self.report, tokens_before=size, tokens_after=size)
            for _ in range(MAX_BATCHES):
                if not await self._one():
                    break
        except HarnessError as error:
            self._failed(error.problem)
        except Exception as error:  # noqa: BLE001 - a user's own model may raise anything, in the background, too
            self._failed(f"{type(error).__name__}: {error}")
        return self.report

    async def _one(self) -> bool:
        """Merges one batch; whether to go on."""
        waiting, warnings = stored_candidates(self.files)
        left, warning = self._pending()
        self._warn(*warnings, warning)
        self.report = replace(self.report, pending=len(left.entries))
        if waiting:
            return self._stop("waiting", f"Candidate {waiting[0].number} waits for review.", waiting[0].number)
        if not left.entries:
            return False
        self.watermark.change(lambda known: replace(known, last_attempt=self.now))
        base = self.workspace.curated.read()
        batch = left.batch(self.proposer.batch_tokens, self.proposer.counter)
        proposal = await self.proposer.propose(base, batch.entries)
        candidate = self._candidate(base, batch, proposal)
        if candidate.reason:
            self.files.save(candidate.number, candidate.to_record())
            self._count(candidate, proposal, merged=0)
            told = f"Candidate {candidate.number} waits for review: {candidate.reason}."
            return self._stop("waiting", told, candidate.number)
        self._apply(candidate, base)
        self._count(candidate, proposal, merged=len(batch.entries))
        return True

    def _pending(self) -> tuple[Pending, str]:
        """What is not merged; everything, where the MEMORY.md that was written is gone."""
        state, warning = self.watermark.read()
        if state.memory_hash and not self.workspace.curated.path.exists():
            state = self.watermark.change(lambda known: replace(known, marks={}, memory_hash=""))
            warning = "MEMORY.md was gone and is made anew from the daily logs; see versions() for what it was."
        return pending(self.workspace.daily_log, state.marks), warning

    def _candidate(self, base: str, batch: Batch, proposal: Proposal) -> Candidate:
        there = max(self.files.numbers(), default=0)
        number = self.watermark.change(
            lambda known: replace(known, last_candidate=max(known.last_candidate, there) + 1)
        ).last_candidate
        return Candidate(
            number=number,
            created=self.now,
            reason=self._doubt(proposal) if proposal.changes else "",
            base_hash=content_hash(base),
            text=proposal.text,
            changes=proposal.changes,
            marks=batch.marks,
            entries=len(batch.entries),
            missing=proposal.missing,
            trimmed=proposal.trimmed,
        )

    def _doubt(self, proposal: Proposal) -> str:
        """Why a person should look at it; empty when nobody need."""
        if proposal.lost > self.config.max_loss_share:
            return f"it loses {proposal.lost:.0%} of the entries, more than {self.config.max_loss_share:.0%}"
        return "every change is reviewed" if self.config.review == "always" else ""

    def _apply(self, candidate: Candidate, base: str) -> None:
        """Swaps MEMORY.md and then moves the watermark; what was edited by hand in the meantime stays.

        The candidate is stored with the text that is about to be written, so that after a crash it is known whether the
        swap was made.
        """

        def swapped(fresh: str) -> str:
            text = candidate.text if fresh == base else self._onto(fresh, candidate)
            self.files.save(candidate.number, replace(candidate, status="applying", text=text).to_record())
            return text

        self.workspace.curated.change(swapped)
        settle(self.workspace, candidate, now=self.now)

    def _onto(self, fresh: str, candidate: Candidate) -> str:
        """The file as somebody left it in the meantime, with the changes made to it."""
        text = with_changes(fresh, candidate.changes)
        return capped(text, self.config.max_memory_tokens, self.proposer.counter).text

    # The report

    def _count(self, candidate: Candidate, proposal: Proposal, *, merged: int) -> None:
        """Takes a batch into the report."""
        report, size = self.report, self._size(self.workspace.curated.read())
        self.report = replace(
            report,
            outcome="applied" if merged else report.outcome,
            reason="",
            entries=report.entries + merged,
            changes=(*report.changes, *candidate.changes),
            missing=(*report.missing, *candidate.missing),
            trimmed=(*report.trimmed, *candidate.trimmed),
            tokens_after=size,
            pending=report.pending - merged,
            model_calls=report.model_calls + proposal.calls,
            usages=(*report.usages, *proposal.usages),
        )
        self._warn(size_warning(size, self.config))

    def _stop(self, outcome: ConsolidationOutcome, reason: str, candidate: int | None = None) -> bool:
        self.report = replace(self.report, outcome=outcome, reason=reason, candidate=candidate)
        return False

    def _failed(self, reason: str) -> None:
        """Notes a failure; what was merged before it stays merged."""
        self._stop("failed", self.workspace.clean(reason))
        try:
            self.watermark.change(lambda known: replace(known, last_attempt=self.now, failures=known.failures + 1))
        except HarnessError as error:
            self._warn(error.problem)

    def _warn(self, *texts: str) -> None:
        found: Sequence[str] = (*self.report.warnings, *(text for text in texts if text))
        self.report = replace(self.report, warnings=tuple(dict.fromkeys(found)))

    def _size(self, text: str) -> int:
        return self.proposer.counter.count_text(text)


def settle(workspace: Workspace, candidate: Candidate, *, now: datetime) -> None:
    """Counts the log entries of a candidate as merged, and deletes it.

    Raises:
        StoreError: A file can't be written.
    """
    curated = workspace.curated
    written = content_hash(curated.read()) if curated.path.exists() else ""
    Watermark(workspace.watermark_path, clock=workspace.clock).change(
        lambda known: replace(
            known,
            marks={**known.marks, **candidate.marks},
            last_success=now,
            last_attempt=now,
            failures=0,
            memory_hash=written,
        )
    )
    CandidateFiles(workspace.candidates_folder).remove(candidate.number)


def finish_what_a_crash_left(workspace: Workspace, *, now: datetime) -> None:
    """Moves the watermark where a swap was made and forgets the candidate where it was not.

    Raises:
        StoreError: A file can't be read or written.
    """
    files = CandidateFiles(workspace.candidates_folder)
    for candidate in stored_candidates(files)[0]:
        if candidate.status != "applying":
            continue
        if workspace.curated.read() == candidate.text:
            settle(workspace, candidate, now=now)
        else:
            files.remove(candidate.number)


def size_warning(size: int, config: MemoryConfig) -> str:
    """What to tell when MEMORY.md is larger than what of it is injected; empty when it is not."""
    if not config.inject or size <= config.max_injected_tokens:
        return ""
    return (
        f"MEMORY.md has about {size:,} tokens, of which at most {config.max_injected_tokens:,} are put into the prompt; "
        "the rest is left out there and found by search only."
    )
