"""What an agent answers with: frozen records that show themselves and have a data frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.events import (
    CompactionFinished,
    Event,
    FactsWritten,
    FlushFailed,
    StepFinished,
    TextPiece,
    ThinkingPiece,
    TurnFinished,
)
from harness_nb.core.messages import Usage
from harness_nb.core.plan import Plan
from harness_nb.core.view import View
from harness_nb.errors import HarnessError
from harness_nb.memory.results import Displayed, counted

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, repr=False)
class AgentReply(Displayed):
    """The answer of one turn.

    Attributes:
        text: The answer, exactly as the model gave it, with keys masked.
        events: What happened on the way, the pieces of the stream left out.
        usage: What the provider reported for the turn, or None.
        tokens: Size of the model input after the turn.
        window: Context window in tokens.
    """

    text: str
    events: tuple[Event, ...] = ()
    usage: Usage | None = None
    tokens: int = 0
    window: int = 0

    def __repr__(self) -> str:
        short = self.text if len(self.text) <= 60 else f"{self.text[:59]}…"
        return f"AgentReply({short!r})"

    def __str__(self) -> str:
        return self.text

    @property
    def steps(self) -> tuple[StepFinished, ...]:
        """The model requests of the turn; those for summaries and facts are not among them."""
        return tuple(one for one in self.events if isinstance(one, StepFinished) and one.purpose == "chat")

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each event."""
        return [event.to_record() for event in self.events]

    @property
    def df(self) -> DataFrame:
        """One row an event."""
        from harness_nb.frames import events_frame
        from harness_nb.frames.records import event_records
        from harness_nb.render.event_words import words

        return events_frame(event_records(self.events, words=words))


def reply_of(events: Sequence[Event], clean: Callable[[str], str]) -> AgentReply:
    """The answer that the events of a turn brought.

    Args:
        events: All of them, in order.
        clean: Masks keys.

    Raises:
        HarnessError: The turn ended without an answer.
    """
    end = next((event for event in reversed(events) if isinstance(event, TurnFinished)), None)
    if end is None:
        raise HarnessError("The turn ended without an answer.", "Look at agent.events, and ask again.")
    return AgentReply(clean(end.text), without_pieces(events), end.usage, end.tokens, end.window)


def without_pieces(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events without the pieces of a stream."""
    return tuple(event for event in events if not isinstance(event, TextPiece | ThinkingPiece))


@dataclass(frozen=True, slots=True, repr=False)
class Planned(Displayed):
    """What would be done to the conversation now; nothing is done.

    Attributes:
        view: What the policy was given.
        plan: What it wants.
        policy: Its name.
    """

    view: View
    plan: Plan
    policy: str = ""

    def __repr__(self) -> str:
        return f"Planned({self.plan.outcome}: {self.plan.reason})"

    def __str__(self) -> str:
        before, after = self.tokens
        size = f"\n{before:,} -> {after:,} tokens" if self.plan.changes else ""
        return f"{self.policy or 'no policy'}: {self.plan.outcome}; {self.plan.reason}{size}"

    @property
    def tokens(self) -> tuple[int, int]:
        """Size of the model input before and after, by the same measure."""
        after = self.view.tokens_of(self.plan.input) if self.plan.input is not None else self.view.tokens
        return self.view.tokens, after

    @property
    def df(self) -> DataFrame:
        """One row a message: what becomes of it."""
        from harness_nb.frames import fates_frame
        from harness_nb.frames.records import fate_records

        return fates_frame(fate_records(self.plan, self.view))


@dataclass(frozen=True, slots=True, repr=False)
class CompactionReport(Displayed):
    """What came of a compaction.

    Attributes:
        events: An event for each pass, in order; none when the policy had nothing to do.
    """

    events: tuple[CompactionFinished, ...]

    def __repr__(self) -> str:
        return f"CompactionReport({self})"

    def __str__(self) -> str:
        if not self.events:
            return "nothing to do"
        last = self.events[-1]
        before = self.events[0].tokens_before
        return f"{last.outcome}: {last.reason}; {before:,} -> {last.tokens_after:,} tokens"

    @property
    def df(self) -> DataFrame:
        """One row a pass."""
        from harness_nb.frames import plans_frame
        from harness_nb.frames.records import plan_records

        return plans_frame(plan_records(self.events))


@dataclass(frozen=True, slots=True, repr=False)
class FlushReport(Displayed):
    """What came of a flush.

    Attributes:
        events: What happened: facts that were written, failures, warnings; none when everything had been read.
    """

    events: tuple[Event, ...]

    def __repr__(self) -> str:
        return f"FlushReport({counted(len(self.facts), 'fact')})"

    def __str__(self) -> str:
        failed = [f"not written: {event.reason}" for event in self.events if isinstance(event, FlushFailed)]
        return "\n".join(
            [counted(len(self.facts), "fact") + " written", *(f"- {fact}" for fact in self.facts), *failed]
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that were written."""
        return tuple(fact for event in self.events if isinstance(event, FactsWritten) for fact in event.facts)

    @property
    def df(self) -> DataFrame:
        """One row an event."""
        from harness_nb.frames import events_frame
        from harness_nb.frames.records import event_records
        from harness_nb.render.event_words import words

        return events_frame(event_records(self.events, words=words))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgentStatus(Displayed):
    """How an agent stands.

    Attributes:
        name: Name of the agent.
        model: Name of its model.
        key_source: Name of the variable that the key was found in; empty when none is needed or found.
        preset: Name of the preset.
        policy: Name of the policy in force, empty when compaction is off.
        session: Id of the session.
        workspace: Its folder as the user gave it.
        window: Context window in tokens.
        window_source: Where that figure comes from.
        tokens: Size of the model input.
        tokens_source: How that is known.
        turns: Turns of the session.
        messages: Messages of the session.
        cost: US dollars that the provider reported for the session, summaries and facts included, or None.
        compaction: Why compaction rests, or empty.
        warnings: What the user should know, a sentence each.
    """

    name: str
    model: str
    key_source: str
    preset: str
    policy: str
    session: str
    workspace: str
    window: int
    window_source: str
    tokens: int
    tokens_source: str
    turns: int
    messages: int
    cost: float | None
    compaction: str = ""
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"AgentStatus({self.name!r}, {self.model!r}, {self.tokens:,} of {self.window:,} tokens)"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in asdict(self).items() if value not in ("", None, ()))

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each line."""
        return [{"name": name, "value": value} for name, value in asdict(self).items()]

    @property
    def df(self) -> DataFrame:
        """One row a line."""
        from harness_nb.frames import status_frame

        return status_frame(self.records)


@dataclass(frozen=True, slots=True, repr=False)
class SessionList(Displayed):
    """The sessions of a workspace.

    Attributes:
        records: A mapping for each: agent, session, last_activity (UTC), bytes, is_current.
    """

    records: list[dict[str, Any]]

    def __repr__(self) -> str:
        return f"SessionList({len(self.records)} sessions)"

    def __str__(self) -> str:
        return "\n".join(f"{one['agent']}/{one['session']}" for one in self.records) or "no session yet"

    def __len__(self) -> int:
        return len(self.records)

    @property
    def df(self) -> DataFrame:
        """One row a session."""
        from harness_nb.frames import sessions_frame

        return sessions_frame(self.records)
