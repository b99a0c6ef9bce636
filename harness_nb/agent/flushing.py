"""When facts are taken from a session: after a turn in the background, before messages leave the list, and at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from harness_nb.agent.runner import Job, runner
from harness_nb.agent.session import Session
from harness_nb.core.events import Event, FactsWritten, FlushFailed, Warned
from harness_nb.core.view import View
from harness_nb.memory.design import MemoryDesign

if TYPE_CHECKING:
    from harness_nb.memory.flush import FlushOutcome

ATTEMPTS = 3
"""How often the same messages may fail before those behind them are tried instead."""

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Failed:
    """How often the flush failed at one place.

    Attributes:
        start: Log index of the first message that could not be read.
        times: Times in a row.
        reason: The last reason.
    """

    start: int = -1
    times: int = 0
    reason: str = ""

    def after(self, outcome: FlushOutcome, start: int, flushed: int) -> Failed:
        """With one flush more, which began at `start` when all before `flushed` had been read."""
        if not outcome.failed:
            return Failed()
        place = outcome.upto if outcome.upto > start else flushed
        return Failed(place, self.times + 1 if place == self.start else 1, outcome.failed)


class Flushing:
    """The flushes of one session, one at a time; each message is read once.

    Args:
        session: What was said; keeps up to which message facts were taken.
        design: Takes the facts.
        gap: Least time between two flushes after turns.
    """

    def __init__(self, session: Session, design: MemoryDesign, gap: timedelta = timedelta()) -> None:
        self._session = session
        self._design = design
        self._gap = gap
        self._last: datetime | None = None
        self._failed = Failed()
        self._job: Job[None] | None = None

    def after_turn(self, emit: Emit) -> Job[None] | None:
        """Begins a flush, unless the last one was too short a while ago: then the next takes these messages along."""
        now = self._session.conversation.now()
        if self._last is not None and now - self._last < self._gap:
            return None
        self._last = now
        return self.start(emit)

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
        session, log = self._session, self._session.conversation.log
        start = self._start(upto)
        messages = [(index, log[index]) for index in range(start, upto)]
        if not messages:
            return
        outcome = await self._design.flush(messages, session=session.id, now=session.conversation.now())
        events = self._events(outcome)
        if outcome.upto > start > session.flushed:
            events.insert(0, self._passed_over(start))
        self._failed = self._failed.after(outcome, start, session.flushed)
        if outcome.upto > start or start == session.flushed:
            session.mark_flushed(outcome.upto)
        for usage in outcome.usages:
            emit(session.spent("flush", usage))
        for event in events:
            session.record(event)
            emit(event)
        session.save()

    def _start(self, upto: int) -> int:
        """The first message to read.

        After some failures at one place every other try begins with the next turn behind it: when that can be read, the
        messages before it are the reason, and they are passed over; when it can't, something else is, and nothing is lost.
        """
        start, log = self._session.flushed, self._session.conversation.log
        tries = self._failed.times - ATTEMPTS if self._failed.start == start else -1
        if tries < 0 or tries % 2:
            return start
        return next((at for at in range(start + 1, upto) if log[at].origin == "user"), start)

    def _passed_over(self, start: int) -> FlushFailed:
        session = self._session
        span = f"messages {session.flushed} to {start - 1}"
        reason = f"{span} were passed over after {self._failed.times} failures: {self._failed.reason}"
        return FlushFailed(time=session.conversation.now(), turn=session.turns, reason=reason)

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
