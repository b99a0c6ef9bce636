"""Mining ended sessions for what is worth keeping. Everything that is found waits in the inbox.

Gemini CLI runs an agent of up to 30 turns over the sessions; here a model is asked for the facts of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from harness_nb.core.messages import Message
from harness_nb.core.records import message_from_record
from harness_nb.errors import HarnessError, MessageError
from harness_nb.memory.designs.gemini_cli.config import GeminiCliMemoryConfig
from harness_nb.memory.designs.gemini_cli.inbox import Inbox
from harness_nb.memory.designs.gemini_cli.run_lock import run_lock
from harness_nb.memory.designs.gemini_cli.state import Run, Runs, Version, load_runs, save_runs
from harness_nb.memory.facts import read_facts
from harness_nb.memory.flush_prompt import FLUSH_PROMPT, flush_request
from harness_nb.model.base import Model, complete
from harness_nb.store.sessions import SessionFiles

_REQUEST_CHARS = 60_000
_REQUEST_SECONDS = 120.0
_CITED = re.compile(r"\s*\[#[\d, #-]+\]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """What came of a run.

    Attributes:
        outcome: `waiting`: changes wait in the inbox; `nothing`; `busy`: another run is on; `failed`.
        reason: In words.
        sessions: Sessions that were read.
        facts: What was proposed.
        calls: Requests that were made.
    """

    outcome: Literal["waiting", "nothing", "busy", "failed"]
    reason: str
    sessions: int = 0
    facts: tuple[str, ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class _Ended:
    """A session that may be mined."""

    version: Version
    messages: tuple[tuple[int, Message], ...]


class Mining:
    """Runs over the sessions of a workspace.

    Args:
        inbox: Where changes go.
        model: Reads the sessions.
        settings: Which sessions, and how many.
        is_open: Whether a session is in use, by its id.
    """

    def __init__(
        self, inbox: Inbox, model: Model, settings: GeminiCliMemoryConfig, is_open: Callable[[str], bool]
    ) -> None:
        self.inbox = inbox
        self.model = model
        self.settings = settings
        self._is_open = is_open
        self._folder = inbox.places.private_folder

    async def run(self, now: datetime) -> Mined:
        """Reads sessions that ended and were not read yet, and proposes what is worth keeping.

        Args:
            now: The aware time.

        Raises:
            StoreError: A file can't be read or written.
        """
        stale = timedelta(minutes=self.settings.stale_lock_minutes)
        with run_lock(self._folder, now, stale) as is_mine:
            if not is_mine:
                return Mined(outcome="busy", reason="another run is on")
            return await self._run(load_runs(self._folder), now)

    async def _run(self, runs: Runs, now: datetime) -> Mined:
        if runs.last is not None and now - runs.last < timedelta(minutes=self.settings.throttle_minutes):
            return Mined(outcome="nothing", reason="the last run ended a short while ago")
        chosen = self._chosen(runs, now)
        if not chosen:
            return Mined(outcome="nothing", reason="no session has ended that was not read yet")
        known = self.inbox.planned(self.inbox.places.index_file)
        facts, read, problem = await self._read(chosen, known, now)
        if not read:
            return Mined(outcome="failed", reason=problem, calls=1)
        if facts:
            self.inbox.propose("private", {self.inbox.places.index_file: _with_facts(known, facts)})
        listed = tuple(one.version for one in chosen)
        run = Run(time=now.isoformat(), listed=listed, read=read, changes=len(facts), stopped=problem or "done")
        save_runs(self._folder, runs.with_run(run))
        told = f"{len(facts)} fact(s) from {len(read)} session(s)"
        calls = len(read) + bool(problem)
        outcome: Literal["waiting", "nothing"] = "waiting" if facts else "nothing"
        return Mined(outcome=outcome, reason=told, sessions=len(read), facts=facts, calls=calls)

    async def _read(
        self, chosen: Sequence[_Ended], known: str, now: datetime
    ) -> tuple[tuple[str, ...], tuple[Version, ...], str]:
        """The facts of sessions, which of these were read, and what ended the reading early."""
        facts: dict[str, None] = {}
        read: list[Version] = []
        for one in chosen:
            found, problem = await self._facts(one, known, now)
            if problem:
                return tuple(facts), tuple(read), problem
            read.append(one.version)
            facts |= dict.fromkeys(found[: self.settings.max_memory_changes])
        return tuple(facts), tuple(read), ""

    def _chosen(self, runs: Runs, now: datetime) -> list[_Ended]:
        """The sessions to read: those that few runs were to read first, then the newest."""
        new = sorted(self._ended(runs, now), key=lambda one: one.version.updated, reverse=True)
        new.sort(key=lambda one: runs.attempts(one.version))
        return new[: self.settings.max_new_sessions]

    def _ended(self, runs: Runs, now: datetime) -> list[_Ended]:
        """The sessions that are long enough, have not been used for a while and were not read as they are."""
        idle, read = timedelta(minutes=self.settings.min_idle_minutes), runs.read
        found: list[_Ended] = []
        for files in self.inbox.places.workspace.sessions():
            updated = files.last_activity()
            if updated is None or now - updated < idle or self._is_open(files.session_id):
                continue
            version = Version(f"{files.agent}/{files.session_id}", updated.isoformat())
            messages = _messages(files) if version not in read else ()
            prompts = sum(message.role == "user" and message.origin == "user" for _, message in messages)
            if messages and prompts >= self.settings.min_user_messages:
                found.append(_Ended(version, messages))
        return found

    async def _facts(self, one: _Ended, known: str, now: datetime) -> tuple[tuple[str, ...], str]:
        """What a model would keep of a session, and why it could not be asked."""
        import asyncio

        date = now.date().isoformat()
        request = flush_request(one.messages, memory=known, today="", date=date, max_chars=_REQUEST_CHARS)
        if request is None:
            return (), ""
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                reply = await complete(self.model, request)
        except TimeoutError:
            return (), f"{self.model.limits.name!r} gave no reply within {_REQUEST_SECONDS:g} seconds."
        except HarnessError as error:
            return (), error.problem
        except Exception as error:  # noqa: BLE001 - a user's own model may raise anything; the run ends there
            return (), f"{type(error).__name__}: {error}"
        found = read_facts(reply.text, prompt=FLUSH_PROMPT, is_cut=reply.finish == "length")
        return tuple(_CITED.sub("", line).strip() for line in found.lines), found.refused or ""


def _messages(files: SessionFiles) -> tuple[tuple[int, Message], ...]:
    """What was said in a session, each message with its log index; records that can't be read are passed over."""
    found = []
    for record in files.load().records:
        if record.get("kind") == "message":
            with suppress(MessageError, KeyError, ValueError, TypeError):
                found.append((int(record["index"]), message_from_record(record)))
    return tuple(found)


def _with_facts(text: str, facts: Sequence[str]) -> str:
    """A text with facts at its end."""
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    return ended + "".join(f"- {fact}\n" for fact in facts)
