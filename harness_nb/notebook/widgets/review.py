"""What a consolidation widget looks at: the memory of an agent as plain records, and the choices of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError
from harness_nb.memory.changes import Change, differences
from harness_nb.render.consolidation import ChangeRow, ConsolidationModel, LogDay, Proposal

_COUNTER = CharsCounter()


@dataclass(slots=True)
class Choices:
    """What the user has chosen and not applied yet.

    Attributes:
        left_out: Changes, as (candidate, number), that are not to be taken in.
        texts: Texts of one's own by change.
    """

    left_out: set[tuple[int, int]] = field(default_factory=set)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)

    def clear(self) -> None:
        """Undoes all of them."""
        self.left_out.clear()
        self.texts.clear()


def consolidation_model(source: Any, choices: Choices) -> ConsolidationModel:
    """The view model of an agent's memory.

    Args:
        source: An agent, or its memory.
        choices: What the user has chosen so far.
    """
    memory = memory_of(source)
    pending = memory.pending()
    return ConsolidationModel(
        days=_days(memory.log(), pending.entries),
        proposals=tuple(_proposal(candidate, choices) for candidate in pending.candidates),
        memory_tokens=_COUNTER.count_text(memory.workspace.curated.read()),
        most_tokens=getattr(source, "settings", {}).get("memory.max_memory_tokens"),
        schedule=_schedule(source, pending),
        versions=len(memory.versions()),
        warnings=pending.warnings,
    )


def memory_of(source: Any) -> Any:
    """The memory of an agent, or the memory itself.

    Raises:
        ConfigError: It is neither.
    """
    memory = getattr(source, "memory", source)
    if not callable(getattr(memory, "pending", None)):
        raise ConfigError(f"{source!r} has no memory.", "Give an agent, or agent.memory.", subject=source)
    return memory


def _days(entries: Sequence[Any], pending: Sequence[Any]) -> tuple[LogDay, ...]:
    days: dict[Any, list[int]] = {}
    for entry in entries:
        days.setdefault(entry.date, [0, 0, 0])[0] += 1
    for entry in pending:
        row = days.setdefault(entry.date, [0, 0, 0])
        row[1] += 1
        row[2] += _COUNTER.count_text(entry.text)
    return tuple(
        LogDay(day=day.isoformat(), entries=max(row[0], row[1]), pending=row[1], tokens=row[2])
        for day, row in sorted(days.items())
    )


def _proposal(candidate: Any, choices: Choices) -> Proposal:
    rows = tuple(_row(change, candidate.number, choices) for change in candidate.changes)
    return Proposal(number=candidate.number, reason=candidate.reason, changes=rows, missing=candidate.missing)


def _row(change: Change, candidate: int, choices: Choices) -> ChangeRow:
    key = (candidate, change.number)
    return ChangeRow(
        number=change.number,
        kind=change.kind,
        before=change.before,
        after=choices.texts.get(key, change.after),
        heading=change.heading,
        sources=change.sources,
        is_lost=change.is_lost,
        is_chosen=key not in choices.left_out,
        is_edited=key in choices.texts,
    )


def _schedule(source: Any, pending: Any) -> str:
    """When the memory is put in order next and how it went last."""
    last = f"last merged {pending.last_success:%Y-%m-%d %H:%M}" if pending.last_success else "never merged yet"
    failed = f", {pending.failures} failed since" if pending.failures else ""
    try:
        status = source.maintenance.status()
    except (AttributeError, ConfigError):
        return f"{last}{failed}"
    if status.is_running:
        return f"being put in order now · {last}{failed}"
    wanted = f"next merge {status.next_consolidation:%H:%M} (throttled)" if status.next_consolidation else ""
    cycle = f"next cycle {status.next_cycle:%Y-%m-%d %H:%M}" if status.next_cycle else ""
    return " · ".join(filter(None, (f"{last}{failed}", wanted, cycle)))


def version_changes(memory: Any, number: int) -> tuple[ChangeRow, ...]:
    """What restoring a version would change of MEMORY.md as it is now; none when there is no such version."""
    from harness_nb.store.files import read_text

    curated = memory.workspace.curated
    path = next((one.path for one in curated.versions() if one.number == number), None)
    text = read_text(path) if path is not None else None
    if text is None:
        return ()
    return tuple(_row(change, 0, Choices()) for change in differences(curated.read(), text))
