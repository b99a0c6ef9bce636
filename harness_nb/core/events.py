"""Frozen records of everything that happens in a session; displays, frames and the session log are made of them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, ClassVar

from harness_nb.core.messages import Message, Usage
from harness_nb.core.redact import redact


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened.

    Attributes:
        time: When, aware.
        turn: Number of the turn, 1 for the first, 0 outside of one.
        kind: The class name in snake case.
    """

    kind: ClassVar[str] = "event"
    is_stored: ClassVar[bool] = True

    time: datetime
    turn: int = 0

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls.kind = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def to_record(self) -> dict[str, object]:
        """A mapping of JSON values."""
        return {"event": self.kind} | {name: _plain(getattr(self, name)) for name in _names(type(self))}  # type: ignore[arg-type]  # classes are hashable


_SHORTEST_KEY = 8
"""Characters below which a text holds no key."""


def without_keys(event: Event) -> Event:
    """The event with every key in its texts replaced by a mark; the same object without one."""
    changed: dict[str, Any] = {}
    for name in _names(type(event)):  # type: ignore[arg-type]  # classes are hashable
        value = getattr(event, name)
        if isinstance(value, str) and len(value) >= _SHORTEST_KEY and (clean := redact(value)) is not value:
            changed[name] = clean
    return replace(event, **changed) if changed else event


@functools.cache
def _names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Usage):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Message):
        return value.text
    if isinstance(value, tuple | list | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return str(value)


@dataclass(frozen=True, kw_only=True)
class TurnStarted(Event):
    """A user message was taken in. `index` is its place in the log."""

    text: str
    index: int


@dataclass(frozen=True, kw_only=True)
class TextPiece(Event):
    """A further piece of the answer."""

    is_stored: ClassVar[bool] = False

    text: str


@dataclass(frozen=True, kw_only=True)
class ThinkingPiece(Event):
    """A further piece of the reasoning."""

    is_stored: ClassVar[bool] = False

    text: str


@dataclass(frozen=True, kw_only=True)
class StepFinished(Event):
    """A model request was answered.

    Attributes:
        step: Number of the request in the turn, 1 for the first.
        purpose: `chat`, or why else the model was asked.
        estimate: Tokens of the input as figured before it was sent.
        usage: What the provider reported, or None.
        seconds: Time it took.
    """

    step: int
    purpose: str = "chat"
    estimate: int = 0
    usage: Usage | None = None
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CallStarted(Event):
    """A tool begins to run."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class CallFinished(Event):
    """A tool call has its result.

    Attributes:
        status: `ok`, `error`, `denied` or `interrupted`.
        chars: Characters of the result before any eviction.
        seconds: Time it took.
    """

    call_id: str
    name: str
    status: str
    chars: int
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CompactionStarted(Event):
    """A policy wants to change the list and the work for it begins."""

    policy: str
    hook: str
    reason: str
    tokens: int
    messages: int


@dataclass(frozen=True, kw_only=True)
class CompactionFinished(Event):
    """What came of it.

    Attributes:
        outcome: `completed`, `skipped` or `failed`.
        reason: In words.
        detail: The plan's own word for what it did.
        tokens_before: Size of the model input before, by the session's measure.
        tokens_after: The same measure after.
        messages_before: Items before.
        messages_after: Items after.
        summarised: Messages that a summary now stands for.
        gone: Messages that are now neither shown nor stood for.
        model_calls: Requests made for it.
        repairs: What guards changed about the plan.
        fixed_tokens: System prompt, memory and schemas, in both sizes.
        plan_number: Number of the plan in the session, for `frames.plans()`.
        left: Log indices of the messages that the list showed word for word and no longer does.
    """

    policy: str
    hook: str
    outcome: str
    reason: str
    detail: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_after: int = 0
    summarised: int = 0
    gone: int = 0
    model_calls: int = 0
    repairs: tuple[str, ...] = ()
    fixed_tokens: int = 0
    plan_number: int = 0
    left: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Pinned(Event):
    """A text stays word for word through every compaction from now on.

    Attributes:
        text: The text.
        source: Who pinned it: the `user`, the `model`, or the `rule` that recognises standing instructions.
        index: Log index of the message that it was taken from, or None.
    """

    text: str
    source: str
    index: int | None = None


@dataclass(frozen=True, kw_only=True)
class FactsWritten(Event):
    """Facts went to the daily log. `messages` are the log indices they were taken from, first and last."""

    facts: tuple[str, ...]
    path: str
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FlushFailed(Event):
    """Facts could not be extracted or written; it is tried again later."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class ConsolidationFinished(Event):
    """New log entries were merged into MEMORY.md, or not.

    Attributes:
        outcome: `applied`, `waiting` (for review), `nothing`, `failed` or `busy`.
        reason: Why, where that is not plain.
        entries: Log entries that were merged.
        added: Entries of MEMORY.md that are new, or would be.
        changed: Entries with another text or place.
        removed: Entries that are gone.
        missing: Merged facts that MEMORY.md does not hold.
        candidate: Number of the candidate that waits, 0 for none.
        tokens_before: Estimated size of MEMORY.md before.
        tokens_after: The same afterwards.
        pending: Log entries that are not merged yet.
        model_calls: Requests made for it.
    """

    outcome: str
    reason: str = ""
    entries: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    missing: tuple[str, ...] = ()
    candidate: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    pending: int = 0
    model_calls: int = 0


@dataclass(frozen=True, kw_only=True)
class MaintenanceFinished(Event):
    """A run of the maintenance ended.

    Attributes:
        due: What was due: a whole `cycle`, or a `consolidation`.
        steps: What came of each step, in words.
        failed: Names of the steps that failed.
    """

    due: str
    steps: tuple[str, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ResultEvicted(Event):
    """A large tool result went to a file."""

    call_id: str
    path: str
    chars: int


@dataclass(frozen=True, kw_only=True)
class Warned(Event):
    """Something that the user should know. `about` is one word for the kind."""

    about: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Interrupted(Event):
    """The user stopped the turn. `text` is the answer so far."""

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnFailed(Event):
    """The turn ended in an error; what was said before stays."""

    error: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnFinished(Event):
    """The turn ended with an answer.

    Attributes:
        text: The answer.
        steps: Model requests of the turn.
        usage: Sum over them of what the provider reported.
        tokens: Size of the model input after the turn.
        window: Context window.
    """

    text: str
    steps: int
    usage: Usage | None = None
    tokens: int = 0
    window: int = 0
