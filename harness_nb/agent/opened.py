"""A session that an agent has open: what runs its turns, and the right to write its files.

One process has a session open at a time; within a process it belongs to the agent that acted on it last, so that a cell
which makes an agent can be run again.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.flushing import Flushing
from harness_nb.agent.hooks import Emit, telling
from harness_nb.agent.loop import Loop
from harness_nb.agent.parts import Parts
from harness_nb.agent.pinning import Pinning
from harness_nb.agent.session import Session
from harness_nb.agent.steering import Steering
from harness_nb.core.events import Event, StepFinished
from harness_nb.core.messages import Message
from harness_nb.core.view import View
from harness_nb.errors import SessionBusyError, StoreError
from harness_nb.model.resolve import resolve
from harness_nb.store.sessions import SessionFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

FLUSH_GRACE_SECONDS = 0.2
"""How long a turn waits after its answer for its facts, so that a fast model's are there."""

FLUSH_WAIT_SECONDS = 10.0
"""How long a look into the memory, or closing, waits for a flush under way."""

_open: weakref.WeakValueDictionary[Path, Opened] = weakref.WeakValueDictionary()
_opening = threading.Lock()


class Opened:
    """An open session of an agent.

    Args:
        parts: The agent's parts.
        files: The session's files, claimed.
    """

    def __init__(self, parts: Parts, files: SessionFiles) -> None:
        policy = parts.policy
        settings = policy.settings if policy is not None else {}
        about = {"agent": parts.name, "model": parts.limits.name, "preset": parts.preset.name}
        self._parts = parts
        parts.design.begin(files.session_id)
        self.session = Session(files, Conversation(parts.measure, parts.workspace.clock.now), policy, about)
        self.pinning = Pinning(self.session, parts.pins)
        parts.context_tools.serve(self.pinning)
        gap = parts.config.flush_gap if parts.config.flush == "throttled" else timedelta()
        self.flushing = Flushing(self.session, parts.design, gap)
        self.steering = Steering(
            session=self.session,
            policy=policy,
            model=parts.model,
            resolve=resolve,
            workspace=parts.workspace,
            agent=parts.name,
            leave=self._flush_leaving if settings.get("flush_before_compact", False) else None,
            offload=bool(settings.get("offload_before_compact", True)),
            remember=parts.design.remember,
        )
        self.loop = Loop(
            agent=parts.name,
            model=parts.model,
            session=self.session,
            steering=self.steering,
            pinning=self.pinning,
            asked=parts.context_tools.asked,
            around=self.around,
            tools=parts.tools,
            permissions=parts.permissions,
            limits=parts.turn_limits,
            eviction=parts.eviction,
            workspace=parts.workspace,
        )

    @property
    def is_mine(self) -> bool:
        """Whether it is still open: neither closed nor taken over."""
        return self.session.files.is_claimed

    def around(self) -> tuple[Surroundings, Message | None]:
        """What is sent beside the messages, and the memory block, as they are now."""
        return self._parts.around(self.session.conversation.window)

    def view(self) -> View:
        """All that a policy may know of the conversation now."""
        return self.session.conversation.view("request", self.around()[0])

    async def turn(self, text: str, emit: Emit) -> None:
        """Runs a turn, and begins the flush after it.

        Raises:
            SessionBusyError: A turn or a compaction is running.
            HarnessError: The turn failed.
        """
        with self.busy():
            self._parts.design.asked(text)
            await self.loop.turn(text, self._telling(emit))
        if self._parts.design.flushes_after_turn:
            await self._flush(emit)

    async def compact(self, words: str, emit: Emit) -> None:
        """Lets the policy act because the user says so.

        Raises:
            SessionBusyError: A turn or a compaction is running.
        """
        with self.busy():
            tell = self._telling(emit)
            await self.steering.at("manual", lambda: self.around()[0], tell, words=words)
            try:
                self.session.save()
            except StoreError as error:
                tell(self.session.warned("store", f"The session's log is behind; it is tried again. {error.problem}"))

    async def flush(self, emit: Emit) -> None:
        """Takes the facts now from all that was said and not read yet; a flush under way is waited for first."""
        await self.flushing.settled()
        job = self.flushing.start(self._telling(emit))
        if job is not None:
            await job.settled()

    def leave(self) -> None:
        """Ends the flush under way, writes what is pending and gives the session up; a second time does nothing.

        Raises:
            SessionBusyError: A turn or a compaction is running.
            StoreError: What is pending can't be written.
        """
        if not self.is_mine:
            return
        with self.busy():
            if self._parts.config.flush == "throttled":
                self.flushing.start(self._telling(lambda _: None))
            self.flushing.end(FLUSH_WAIT_SECONDS)
            try:
                self.session.save()
            finally:
                self.session.files.release()

    def check_idle(self) -> None:
        """Refuses while something runs.

        Raises:
            SessionBusyError: A turn or a compaction is running.
        """
        with self.busy():
            pass

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keeps turns, compactions and changes of the pins apart.

        Raises:
            SessionBusyError: One of them is running.
        """
        if not self.session.busy.acquire(blocking=False):
            raise SessionBusyError(
                f"Session {self.session.id!r} is in the middle of a turn or a compaction.",
                "Wait for it, or use another session.",
            )
        try:
            yield
        finally:
            self.session.busy.release()

    async def _flush(self, emit: Emit) -> None:
        """Begins the flush of the turn and stays for a moment, so that quick facts are part of what the caller sees."""
        late: list[Event] = []
        job = self.flushing.after_turn(self._telling(late.append))
        if job is not None:
            await job.settled(FLUSH_GRACE_SECONDS)
        for event in tuple(late):
            if not isinstance(event, StepFinished):  # what it cost is no part of the turn
                emit(event)

    async def _flush_leaving(self, view: View, indices: tuple[int, ...]) -> None:
        await self.flushing.before_leaving(view, indices, self._telling(lambda _: None))

    def _telling(self, emit: Emit) -> Emit:
        return telling(self._parts.hooks, self.session, emit)


def open_session(parts: Parts, session: str | None) -> Opened:
    """Opens a session; an agent of this process that has it open gives it up.

    Args:
        parts: The agent's parts.
        session: Its id; None begins a new one, named after the time.

    Raises:
        SessionBusyError: Another process has it open, or a turn of it is running.
        StoreError: Its files can't be used.
    """
    with _opening:
        files = _new(parts) if session is None else parts.workspace.session(parts.name, session)
        earlier = _open.get(files.log_path)
        if earlier is not None:
            earlier.leave()
        files.claim()
        try:
            opened = Opened(parts, files)
        except BaseException:
            files.release()
            raise
        _open[files.log_path] = opened
        return opened


def _new(parts: Parts) -> SessionFiles:
    """Claimed files of a session that nobody has begun yet."""
    stem = parts.workspace.clock.now().strftime("%Y-%m-%d-%H%M%S")
    number = 1
    while True:
        files = parts.workspace.session(parts.name, stem if number == 1 else f"{stem}-{number}")
        number += 1
        if files.exists or files.log_path in _open:
            continue
        try:
            files.claim()
        except SessionBusyError:
            continue
        if not files.exists:
            return files
        files.release()
