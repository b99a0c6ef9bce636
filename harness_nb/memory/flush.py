"""The flush: facts are extracted from messages by a model and appended to today's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from harness_nb.core.messages import Message, Usage
from harness_nb.errors import HarnessError
from harness_nb.memory.facts import Facts, cited, read_facts
from harness_nb.memory.flush_prompt import (
    FLUSH_PROMPT,
    MAX_REQUEST_CHARS,
    RETRY_PROMPT,
    Numbered,
    batches,
    flush_request,
    retried,
)
from harness_nb.memory.provenance import source_of
from harness_nb.model.base import Model, ModelRequest, complete
from harness_nb.store.daily_log import Fact
from harness_nb.store.workspace import Workspace

TIMEOUT_SECONDS = 60.0
"""Longest wait for one reply, so that a model that hangs does not hold up a compaction."""

_CHARS_PER_TOKEN = 2  # low on purpose: also a request in code or Chinese is to fit the window


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushOutcome:
    """What came of a flush.

    Attributes:
        upto: The next flush of the session begins with this log index; before it nothing is left to do. A caller keeps
            the largest one it has seen.
        facts: Facts that were written, as they were written.
        path: The log they went to, relative to the workspace; empty when none was written.
        messages: First and last index of the messages that were read, empty when there was nothing to read.
        refused: Why replies could not be used; their messages count as read.
        dropped: Lines of replies that are no facts, each with the reason in front.
        failed: Why it stopped before its end, empty when it did not; the messages from `upto` on are tried again.
        usages: What the provider reported for each reply, where it did.
        warning: What went wrong without harm, such as an index that could not take in the log yet.
    """

    upto: int = 0
    facts: tuple[str, ...] = ()
    path: str = ""
    messages: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    failed: str = ""
    usages: tuple[Usage, ...] = ()
    warning: str = ""


async def flush(
    model: Model,
    workspace: Workspace,
    messages: Sequence[Numbered],
    *,
    session: str,
    now: datetime | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> FlushOutcome:
    """Extracts the facts in some messages and appends them to today's log.

    A long list is read in parts, and each part counts by itself. Never raises for a model, a reply or a file that
    fails: the outcome says so. Two flushes of the same messages at a time would read them twice; the caller has one.

    Args:
        model: Extracts the facts.
        workspace: Holds the log and the curated memory, which is shown to the model for comparison.
        messages: Messages with their log indices, in order.
        session: Id of the session, noted beside each fact.
        now: The aware time of the entries; by default the workspace clock's.
        timeout_seconds: Longest wait for one reply.
    """
    moment = now or workspace.clock.now()
    max_chars = min(MAX_REQUEST_CHARS, model.limits.window * _CHARS_PER_TOKEN)
    outcome = FlushOutcome(upto=messages[0][0] if messages else 0)
    for batch in batches(messages, max_chars):
        try:
            request = _request(workspace, batch, moment, max_chars)
            answer = await _asked(model, request, timeout_seconds) if request else _Answer(Facts())
            outcome = _noted(outcome, workspace, batch, answer, session, moment)
        except TimeoutError:
            return replace(outcome, failed=f"{model.limits.name!r} gave no reply within {timeout_seconds:g} seconds.")
        except HarnessError as error:
            return replace(outcome, failed=workspace.clean(error.problem))
        except Exception as error:  # noqa: BLE001 - a user's own model may raise anything, and an answer must not be lost
            return replace(outcome, failed=workspace.clean(f"{type(error).__name__}: {error}"))
    return outcome


@dataclass(frozen=True, slots=True)
class _Answer:
    """The facts in a reply and what the reply cost; with no usage for a request that was not made."""

    facts: Facts
    usages: tuple[Usage, ...] = ()


def _request(workspace: Workspace, batch: Sequence[Numbered], now: datetime, max_chars: int) -> ModelRequest | None:
    today = "\n".join(f"- {entry.text}" for entry in workspace.daily_log.entries(now.date()))
    memory = workspace.curated.read()
    return flush_request(batch, memory=memory, today=today, date=now.date().isoformat(), max_chars=max_chars)


async def _asked(model: Model, request: ModelRequest, timeout_seconds: float) -> _Answer:
    """Asks once, and once more when the reply can't be read."""
    first = await _reply(model, request, timeout_seconds)
    facts = _read(first)
    if facts.refused is None:
        return _Answer(facts, _usages(first))
    second = await _reply(model, retried(request), timeout_seconds)
    return _Answer(_read(second), _usages(first, second))


async def _reply(model: Model, request: ModelRequest, timeout_seconds: float) -> Message:
    import asyncio

    async with asyncio.timeout(timeout_seconds):
        return await complete(model, request)


def _read(reply: Message) -> Facts:
    return read_facts(reply.text, prompt=f"{FLUSH_PROMPT}\n{RETRY_PROMPT}", is_cut=reply.finish == "length")


def _usages(*replies: Message) -> tuple[Usage, ...]:
    return tuple(reply.usage for reply in replies if reply.usage is not None)


def _noted(
    outcome: FlushOutcome,
    workspace: Workspace,
    batch: Sequence[Numbered],
    answer: _Answer,
    session: str,
    now: datetime,
) -> FlushOutcome:
    """Writes the facts of one part and adds them to the outcome."""
    log, found = workspace.daily_log, answer.facts
    facts = [_fact(line, batch, session) for line in found.lines]
    written = log.append(facts, source="flush", now=now, since=_since(batch, now)) if facts else []
    return FlushOutcome(
        upto=batch[-1][0] + 1,
        facts=(*outcome.facts, *(fact.text for fact in written)),
        path=workspace.relative(log.path(now.date())) if written else outcome.path,
        messages=(*(outcome.messages[:1] or (batch[0][0],)), batch[-1][0]),
        refused=(*outcome.refused, workspace.clean(found.refused)) if found.refused else outcome.refused,
        dropped=(*outcome.dropped, *map(workspace.clean, found.dropped)),
        usages=(*outcome.usages, *answer.usages),
    )


def _since(batch: Sequence[Numbered], now: datetime) -> date | None:
    """The first day on which messages may have been read before; a day earlier than they were said, as zones differ."""
    said = [message.time for _, message in batch if message.time is not None]
    return min(said).astimezone(now.tzinfo).date() - timedelta(days=1) if said else None


def _fact(line: str, batch: Sequence[Numbered], session: str) -> Fact:
    text, numbers = cited(line, {index for index, _ in batch})
    source = source_of(text, numbers, batch)
    return Fact(text, session=session, messages=source.messages, role=source.role)
