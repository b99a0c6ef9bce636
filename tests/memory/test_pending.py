from __future__ import annotations

from datetime import UTC, date, datetime

from harness_nb.core.tokens import CharsCounter
from harness_nb.memory.pending import is_merged, pending
from harness_nb.store.daily_log import Fact
from harness_nb.store.watermark import mark_of
from harness_nb.store.workspace import Workspace

COUNTER = CharsCounter()


def note(store: Workspace, day: int, *facts: str) -> None:
    store.daily_log.append([Fact(fact) for fact in facts], now=datetime(2026, 4, day, 8, tzinfo=UTC))


def texts(found: object) -> list[str]:
    return [entry.text for entry in found.entries]  # type: ignore[attr-defined]


def test_without_marks_everything_is_pending_oldest_first(store: Workspace) -> None:
    note(store, 11, "b")
    note(store, 10, "a")
    assert texts(pending(store.daily_log, {})) == ["a", "b"]


def test_a_batch_takes_whole_days_as_far_as_they_fit(store: Workspace) -> None:
    for day in (9, 10, 11):
        note(store, day, "one " * 10, "two " * 10)
    left = pending(store.daily_log, {})
    batch = left.batch(50, COUNTER)
    assert [entry.date.day for entry in batch.entries] == [9, 9, 10, 10]
    assert set(batch.marks) == {date(2026, 4, 9), date(2026, 4, 10)}
    assert [entry.date.day for entry in pending(store.daily_log, batch.marks).entries] == [11, 11]


def test_of_a_day_that_is_too_large_the_first_entries_are_taken_at_least_one(store: Workspace) -> None:
    note(store, 9, *(f"fact {number} {'x' * 40}" for number in range(10)))
    marks: dict[date, object] = {}
    seen: list[str] = []
    for budget in (1, 30, 4_000):
        batch = pending(store.daily_log, marks).batch(budget, COUNTER)  # type: ignore[arg-type]
        seen += texts(batch)
        marks |= batch.marks
    assert seen == texts(pending(store.daily_log, {})) and texts(pending(store.daily_log, marks)) == []  # type: ignore[arg-type]
    assert pending(store.daily_log, marks).batch(10, COUNTER).entries == ()  # type: ignore[arg-type]


def test_what_is_appended_to_a_merged_log_is_pending_and_keeps_its_time(store: Workspace) -> None:
    note(store, 9, "a")
    marks = pending(store.daily_log, {}).batch(4_000, COUNTER).marks
    note(store, 9, "b")
    (entry,) = pending(store.daily_log, marks).entries
    assert entry.text == "b" and entry.moment == datetime(2026, 4, 9, 8, tzinfo=UTC)


def test_a_log_is_merged_when_every_entry_of_it_is(store: Workspace) -> None:
    note(store, 9, "a")
    day, path = date(2026, 4, 9), store.daily_log.path(date(2026, 4, 9))
    data = path.read_bytes()
    assert is_merged(data, mark_of(data), day) and is_merged(data + b"\n## later\n", mark_of(data), day)
    assert not is_merged(data + b"- b\n", mark_of(data), day) and not is_merged(data, None, day)
