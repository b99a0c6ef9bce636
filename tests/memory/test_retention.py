from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_nb.core.config import MaintenanceConfig
from harness_nb.errors import ConfigError
from harness_nb.memory.retention import expire, prune
from harness_nb.store.daily_log import Fact
from harness_nb.store.sessions import SessionFiles
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import run, state_of

TODAY = datetime(2026, 9, 1, 12, tzinfo=UTC)
NAMES = (
    "2026-02-03.md",
    "2026-02-30.md",
    "20260203.md",
    "2026-2-3.md",
    "2026-02-03-deploy.md",
    "notes.md",
    "MEMORY.md",
)


def old_log(store: Workspace, day: str = "2026-02-03") -> Path:
    store.daily_log.append([Fact(f"noted on {day}")], now=datetime.fromisoformat(f"{day}T08:00:00+00:00"))
    return store.memory_folder / f"{day}.md"


def session(store: Workspace, name: str, last: datetime, touched: datetime) -> SessionFiles:
    files = store.session("ann", name)
    files.append([{"kind": "session", "version": 1}, {"kind": "event", "time": last.isoformat()}])
    files.save_view({"items": []})
    for path in (files.log_path, files.view_path):
        os.utime(path, (touched.timestamp(), touched.timestamp()))
    return files


def test_r054_only_exact_and_valid_days_expire(store: Workspace) -> None:
    store.memory_folder.mkdir(parents=True)
    for name in NAMES:
        (store.memory_folder / name).write_text("- a fact of the lab\n", encoding="utf-8")
    (store.path / "MEMORY.md").write_text("- a\n", encoding="utf-8")
    run(store)
    assert expire(store, 90, TODAY).names == ("memory/2026-02-03.md",)
    assert sorted(path.name for path in store.memory_folder.glob("*.md")) == sorted(NAMES[1:])
    assert (store.path / "MEMORY.md").exists()
    assert [path.name for path in store.archive_folder.glob("*")] == ["2026-02-03.md"]


def test_a_log_that_is_not_merged_whole_stays_and_is_said(store: Workspace) -> None:
    path = old_log(store)
    run(store)
    with path.open("a", encoding="utf-8") as file:
        file.write("- added later\n")
    cleared = expire(store, 90, TODAY)
    assert (cleared.names, cleared.stayed) == ((), ("memory/2026-02-03.md: not merged yet",)) and path.exists()
    run(store)
    assert expire(store, 90, TODAY).names == ("memory/2026-02-03.md",)
    assert state_of(store).marks == {}


def test_a_log_expires_on_the_day_after_its_retention(store: Workspace) -> None:
    old_log(store, "2026-06-03")
    run(store)
    assert expire(store, 90, TODAY).names == ()
    assert expire(store, 90, TODAY + timedelta(days=1)).names == ("memory/2026-06-03.md",)


@pytest.mark.parametrize("days", [0, None])
def test_r087_a_retention_of_zero_or_none_means_never(store: Workspace, days: int | None) -> None:
    config = MaintenanceConfig(daily_file_retention_days=days, session_retention_days=days)
    path, files = old_log(store), session(store, "s1", TODAY - timedelta(days=999), TODAY - timedelta(days=999))
    run(store)
    assert expire(store, config.daily_file_retention_days, TODAY).names == ()
    assert prune(store, config.session_retention_days, TODAY).names == ()
    assert path.exists() and files.exists


@pytest.mark.parametrize("days", [-1, float("nan"), "90", 1.5, True, float("inf")])
@pytest.mark.parametrize("name", ["daily_file_retention_days", "session_retention_days"])
def test_r087_an_absurd_retention_is_refused(name: str, days: object) -> None:
    with pytest.raises(ConfigError, match=f"{name}={days!r}"):
        MaintenanceConfig(**{name: days})  # type: ignore[arg-type]


@pytest.mark.parametrize("span", [timedelta(), timedelta(-1), 6, "6h", None])
@pytest.mark.parametrize("name", ["interval", "min_gap"])
def test_a_span_that_is_none_is_refused(name: str, span: object) -> None:
    with pytest.raises(ConfigError, match=name):
        MaintenanceConfig(**{name: span})  # type: ignore[arg-type]


def test_r086_the_last_recorded_activity_counts_and_not_the_time_of_the_file(store: Workspace) -> None:
    long_ago = TODAY - timedelta(days=200)
    used = session(store, "used", TODAY - timedelta(days=1), long_ago)
    unused = session(store, "unused", long_ago, TODAY)
    cleared = prune(store, 180, TODAY)
    assert cleared.names == ("agents/ann/sessions/unused.jsonl", "agents/ann/sessions/unused.log.jsonl")
    assert used.exists and not unused.exists


def test_r086_an_open_session_is_never_deleted(store: Workspace) -> None:
    long_ago = TODAY - timedelta(days=200)
    files = session(store, "open", long_ago, long_ago)
    files.claim()
    try:
        cleared = prune(store, 180, TODAY)
        assert (cleared.names, cleared.stayed) == ((), ("agents/ann/sessions/open.log.jsonl: open",)) and files.exists
    finally:
        files.release()
    assert len(prune(store, 180, TODAY).names) == 2


@pytest.mark.parametrize("days", [180, None])
def test_what_a_killed_process_left_half_written_goes_after_a_day(store: Workspace, days: int | None) -> None:
    left, fresh = (store.memory_folder / f".MEMORY.md.{number * 12}.tmp" for number in "0f")
    others = [store.memory_folder / name for name in (".mine.tmp", "notes.0123456789ab.tmp", ".MEMORY.md.tmp")]
    store.memory_folder.mkdir(parents=True)
    for path in (left, fresh, *others):
        path.write_text("half a", encoding="utf-8")
        os.utime(path, (0, 0)) if path is not fresh else None
    assert prune(store, days, TODAY).names == (f"memory/{left.name}",)
    assert not left.exists() and fresh.exists() and all(path.exists() for path in others)
