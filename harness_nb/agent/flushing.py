"""When facts are taken from a session: after a turn in the background, and before messages leave the list."""

from __future__ import annotations

from collections.abc import Callable

from harness_nb.agent.runner import Job, runner
from harness_nb.agent.session import Session
from harness_nb.core.events import Event, FactsWritten, FlushFailed, Warned
from harness_nb.core.view import View
from harness_nb.memory.design import MemoryDesign
from harness_nb.memory.flush import FlushOutcome

Emit = Callable[[Event], None]


class Flushing:
    """The flushes of one session, one at a time; each message is read once.

    Args:
        session: What was said; keeps up to which message facts were taken.
        design: Takes the facts.
    """

    def __init__(self, session: Session, design: MemoryDesign) -> None:
        self._session = session
        self._design = design
        self._job: Job[None] | None = None

    def start(self, emit: Emit) -> Job[None] | None:
        """Begins a flush of all that is not flushed yet, in the background; None when there is nothing."""
        if self.is_running or self._session.flushed >= len(self._session.conversation.log):
            return self._job if self.is_running else None
        self._job = runner.submit(self._flush(len(self._session.conversation.log), emit))
        return self._job

    async def before_leaving(self, view: View, indices: tuple[int, ...], emit: Emit) -> None:
        """Takes the facts from messages that are about to leave, and from all before them."""
        await self.settled()
        await self._flush(max(indices) + 1, emit)

    async def settled(self) -> None:
        """Waits for the flush in the background."""
        if self._job is not None and self.is_running:
            await self._job.settled()

    def wait(self, seconds: float) -> bool:
        """Waits for the flush in the background; False when it takes longer, or the caller is on its loop."""
        from concurrent.futures import wait

        if self._job is None or runner.is_here:
            return not self.is_running
        return not wait([self._job.future], timeout=seconds).not_done

    def end(self, seconds: float) -> None:
        """Waits for the flush in the background and then stops it; what it had not read is read by the next."""
        if not self.wait(seconds) and self._job is not None:
            self._job.stop()

    @property
    def is_running(self) -> bool:
        """Whether one is under way."""
        return self._job is not None and not self._job.future.done()

    async def _flush(self, upto: int, emit: Emit) -> None:
        session = self._session
        log = session.conversation.log
        messages = [(index, log[index]) for index in range(session.flushed, upto)]
        if not messages:
            return
        outcome = await self._design.flush(messages, session=session.id, now=session.conversation.now())
        session.mark_flushed(outcome.upto)
        for event in self._events(outcome):
            session.record(event)
            emit(event)
        session.save()

    def _events(self, outcome: FlushOutcome) -> list[Event]:
        now, turn = self._session.conversation.now(), self._session.turns
        found: list[Event] = []
        if outcome.facts:
            found.append(
                FactsWritten(time=now, turn=turn, facts=outcome.facts, path=outcome.path, messages=outcome.messages)
            )
        for reason in (outcome.failed, *outcome.refused):
            found += [FlushFailed(time=now, turn=turn, reason=reason)] if reason else []
        if outcome.warning:
            found.append(Warned(time=now, turn=turn, about="index", text=outcome.warning))
        return found
