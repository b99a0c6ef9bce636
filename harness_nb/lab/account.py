"""What happened in a run as plain values, which can leave a kernel as JSON and be printed as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from harness_nb.agent.driver import Pass
from harness_nb.core.events import CompactionFinished, Event, FactsWritten, TurnFinished
from harness_nb.core.requests import Ask
from harness_nb.lab.run import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """One replacement of the model input.

    Attributes:
        turn: Number of the turn, 1 for the first.
        tokens_before: Size of the model input before, by the session's measure.
        tokens_after: The same after.
        kept: Messages that stay as they were; in a live session, whose events do not tell them apart, also shortened ones.
        shortened: Messages shown shorter than before.
        summarised: Messages that a summary or a note now stands for.
        gone: Messages neither shown nor stood for.
        model_calls: Model calls made for it.
        reason: Why, in words.
    """

    turn: int
    tokens_before: int
    tokens_after: int
    kept: int
    shortened: int
    summarised: int
    gone: int
    model_calls: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What happened in a run.

    Attributes:
        turns: Turns that were answered, or replayed.
        compactions: The replacements of the model input, in order.
        failures: Plans that failed or were refused: why, each time.
        facts: Facts that were written to the daily log.
        query: What the memory was searched for, or empty.
        hits: How many hits that had.
        window: Context window in tokens.
        window_source: Where that figure comes from.
        overflows: Requests above the window.
        peak_tokens: Largest model input.
        final_tokens: Size of the model input at the end.
    """

    turns: int
    compactions: tuple[Compaction, ...]
    failures: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    query: str = ""
    hits: int = 0
    window: int = 0
    window_source: str = ""
    overflows: int = 0
    peak_tokens: int = 0
    final_tokens: int = 0

    @property
    def model_calls(self) -> int:
        """Model calls made for compactions."""
        return sum(one.model_calls for one in self.compactions)

    def to_record(self) -> dict[str, Any]:
        """A mapping of JSON values."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Account:
        """The account that `to_record` made the mapping of."""
        compactions = tuple(Compaction(**one) for one in record["compactions"])
        texts = {name: tuple(record[name]) for name in ("failures", "facts")}
        return cls(**{**record, **texts, "compactions": compactions})


class _Hits(Protocol):
    query: str

    def __len__(self) -> int: ...


class _Agent(Protocol):
    @property
    def events(self) -> tuple[Event, ...]: ...


def account_of_agent(agent: _Agent, hits: _Hits | None = None) -> Account:
    """What happened in a live session.

    Args:
        agent: The agent; its events of this kernel are counted.
        hits: What a search of its memory found.
    """
    events = agent.events
    attempts = [event for event in events if isinstance(event, CompactionFinished)]
    turns = [event for event in events if isinstance(event, TurnFinished)]
    return Account(
        turns=len(turns),
        compactions=tuple(_of_event(event) for event in attempts if event.outcome == "completed"),
        failures=tuple(event.reason for event in attempts if event.outcome == "failed"),
        facts=tuple(fact for event in events if isinstance(event, FactsWritten) for fact in event.facts),
        query=hits.query if hits is not None else "",
        hits=len(hits) if hits is not None else 0,
        window=turns[-1].window if turns else 0,
        peak_tokens=max([*(event.tokens for event in turns), *(event.tokens_before for event in attempts)], default=0),
        final_tokens=turns[-1].tokens if turns else 0,
    )


def account_of_replay(run: Replay) -> Account:
    """What happened in a replay."""
    totals = run.totals
    return Account(
        turns=totals.turns,
        compactions=tuple(_of_pass(one, step.turn) for step in run.steps for one in step.passes if one.plan.changes),
        failures=tuple(one.reason for one in run.plans if one.outcome == "failed"),
        window=run.window,
        window_source=run.final.model.window_source,
        overflows=totals.overflows,
        peak_tokens=totals.peak_tokens,
        final_tokens=totals.final_tokens,
    )


def _of_event(event: CompactionFinished) -> Compaction:
    return Compaction(
        turn=event.turn,
        tokens_before=event.tokens_before,
        tokens_after=event.tokens_after,
        kept=event.messages_before - event.summarised - event.gone,
        shortened=0,
        summarised=event.summarised,
        gone=event.gone,
        model_calls=event.model_calls,
        reason=event.reason,
    )


def _of_pass(one: Pass, turn: int) -> Compaction:
    left = set(one.plan.leaving(one.view))
    fates = [fate.fate for fate in one.plan.fates(one.view) if fate.index in left]
    shown = {item.index: item for item in one.view.input if item.index is not None}
    now = [(item, shown[item.index]) for item in one.plan.items(one.view) if item.index in shown]
    kept = sum(item == before for item, before in now)
    return Compaction(
        turn=turn,
        tokens_before=one.tokens_before,
        tokens_after=one.tokens_after,
        kept=kept,
        shortened=len(now) - kept,
        summarised=fates.count("stood for"),
        gone=fates.count("gone"),
        model_calls=sum(isinstance(request, Ask) for request, _ in one.asked),
        reason=one.reason,
    )
