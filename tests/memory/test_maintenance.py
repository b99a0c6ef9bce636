from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.core.events import ConsolidationFinished, Event, MaintenanceFinished
from harness_nb.core.messages import Message
from harness_nb.errors import ModelError
from harness_nb.memory import maintenance as module
from harness_nb.memory.design import TwoLayers
from harness_nb.memory.maintenance import Maintenance
from harness_nb.memory.schedule import Schedule
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import noted, state_of

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def store(workspace: Path, watch: Watch) -> Workspace:
    return Workspace(workspace, clock=Clock(read=watch))


@pytest.fixture
def index(store: Workspace) -> Iterator[MemoryIndex]:
    with MemoryIndex.of(store) as index:
        yield index


def layers(store: Workspace, index: MemoryIndex, *replies: object, **settings: object) -> TwoLayers:
    model = ScriptedModel(consolidation=list(replies) if replies else None)  # type: ignore[arg-type]
    return TwoLayers(store, index, model, MemoryConfig(**settings))  # type: ignore[arg-type]


def outcomes(report: object) -> dict[str, str]:
    return {step.name: step.outcome for step in report.steps}  # type: ignore[attr-defined]


# The reckoning


def test_a_cycle_is_due_an_interval_after_the_start_or_the_last_one() -> None:
    schedule = Schedule(config=MaintenanceConfig(), started=NOW)
    assert schedule.next_cycle == schedule.next_run == NOW + 6 * HOUR and schedule.next_consolidation is None
    assert schedule.due(NOW + 6 * HOUR - MINUTE) is None and schedule.due(NOW + 6 * HOUR) == "cycle"
    later = Schedule(config=MaintenanceConfig(), started=NOW, last_cycle=NOW - 5 * HOUR)
    assert later.due(NOW + HOUR) == "cycle"


def test_a_request_is_delayed_and_never_dropped() -> None:
    config = MaintenanceConfig()
    schedule = Schedule(config=config, started=NOW, wanted_since=NOW)
    assert schedule.due(NOW + 29 * MINUTE) is None and schedule.due(NOW + 30 * MINUTE) == "consolidation"
    busy = Schedule(config=config, started=NOW, wanted_since=NOW, last_attempt=NOW + 20 * MINUTE)
    assert busy.due(NOW + 49 * MINUTE) is None and busy.due(NOW + 50 * MINUTE) == "consolidation"


def test_r058_each_failure_doubles_the_gap_up_to_the_interval() -> None:
    gaps = [Schedule(config=MaintenanceConfig(), started=NOW, failures=failures).gap for failures in range(8)]
    assert [gap / MINUTE for gap in gaps] == [30, 60, 120, 240, 360, 360, 360, 360]
    wide = MaintenanceConfig(min_gap=timedelta(days=1), interval=HOUR)
    assert Schedule(config=wide, started=NOW, failures=9).gap == timedelta(days=1)


# What is done


def test_a_cycle_expires_consolidates_prunes_and_reindexes(store: Workspace, index: MemoryIndex) -> None:
    noted(store, "the fact of an old day", day=1)
    design = layers(store, index)
    first = design.maintenance.run(NOW + timedelta(days=120))
    assert [step.name for step in first.steps] == ["expire", "consolidate", "prune", "reindex"]
    assert first["expire"].stayed == ("memory/2026-04-01.md: not merged yet",)
    second = design.maintenance.run(NOW + timedelta(days=121))
    assert second["expire"].files == ("memory/2026-04-01.md",) and outcomes(second)["consolidate"] == "nothing"
    assert {hit.kind for hit in index.search("fact of an old day")} == {"memory", "archive"}
    assert repr(second) == "MaintenanceReport(expire: done, consolidate: nothing, prune: nothing, reindex: done)"


def test_r070_a_log_that_was_archived_is_found_only_there(store: Workspace, index: MemoryIndex) -> None:
    noted(store, "the fact of an old day", day=1)
    index.refresh()
    design = layers(store, index)
    for days in (120, 121):
        design.maintenance.run(NOW + timedelta(days=days))
    assert {hit.path for hit in index.search("old day")} == {"MEMORY.md", "memory/archive/2026-04-01.md"}


@pytest.mark.parametrize(("step", "name"), [("expire", "expire"), ("prune", "prune")])
def test_r089_a_step_that_fails_keeps_no_other_from_running(
    store: Workspace, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch, step: str, name: str
) -> None:
    def fails(*_: object) -> None:
        raise OSError("disk on fire")

    monkeypatch.setattr(module, step, fails)
    noted(store, "a fact about the lab")
    design = layers(store, index)
    heard: list[Event] = []
    design.maintenance.heard = heard.append
    for hours in (7, 14):
        report = design.maintenance.tick(NOW + hours * HOUR)
        assert report is not None and report[name].detail == "OSError: disk on fire"
        assert [one.outcome for one in report.steps if one.name != name and one.outcome == "failed"] == []
    assert "a fact about the lab" in store.curated.read()
    told = [event for event in heard if isinstance(event, MaintenanceFinished)]
    assert [event.failed for event in told] == [(name,), (name,)]
    assert f"{name:<18}  failed (OSError: disk on fire)" in str(design.maintenance.status())


def test_r089_a_failing_consolidation_is_a_step_that_failed(store: Workspace, index: MemoryIndex) -> None:
    noted(store, "a fact about the lab")
    design = layers(store, index, ModelError("stuck"))
    report = design.maintenance.run()
    assert outcomes(report) == {"expire": "nothing", "consolidate": "failed", "prune": "nothing", "reindex": "done"}
    assert report["consolidate"].detail == "stuck" and design.maintenance.status().failures == 1


def test_a_flush_requests_a_consolidation_that_a_tick_makes_when_it_is_due(
    store: Workspace, index: MemoryIndex, watch: Watch
) -> None:
    model = ScriptedModel(flush=["- The lab uses Python 3.11"])
    design = TwoLayers(store, index, model)
    asyncio.run(design.flush([(0, Message.user("My lab uses Python 3.11."))], session="s1"))
    upkeep = design.maintenance
    assert upkeep.tick(NOW + 29 * MINUTE) is None and store.curated.read() == ""
    watch.now = NOW + 30 * MINUTE
    report = upkeep.tick(watch.now)
    assert report is not None and outcomes(report) == {"consolidate": "done", "reindex": "done"}
    assert index.search("python", limit=1)[0].path == "MEMORY.md"
    assert upkeep.schedule().next_consolidation is None and upkeep.tick(NOW + 2 * HOUR) is None


def test_r058_a_stuck_model_is_asked_less_and_less_often_and_loses_no_request(
    store: Workspace, index: MemoryIndex, watch: Watch
) -> None:
    noted(store, "a fact about the lab")
    design = layers(store, index, *[ModelError("stuck")] * 4, "- a fact about the lab\n")
    design.maintenance.request(NOW)
    asked = []
    for _ in range(12 * 60):
        watch.now += MINUTE
        if design.maintenance.tick(watch.now) is not None:
            asked.append((watch.now - NOW) // MINUTE)
    assert asked[:5] == [30, 90, 210, 360, 720] or asked[:4] == [30, 90, 210, 360]
    assert len(asked) <= 6
    watch.now += timedelta(days=1)
    design.maintenance.tick(watch.now)
    assert "a fact about the lab" in store.curated.read() and state_of(store).failures == 0


def test_what_an_earlier_kernel_left_is_looked_for(store: Workspace, index: MemoryIndex, watch: Watch) -> None:
    noted(store, "a fact about the lab")
    design = layers(store, index)
    design.maintenance.look()
    assert design.maintenance.schedule().next_consolidation == datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
    assert design.maintenance.tick(NOW) is not None
    again = layers(store, index)
    again.maintenance.look()
    assert again.maintenance.schedule().next_consolidation is None


def test_a_log_without_times_is_looked_for_from_now_on(store: Workspace, index: MemoryIndex) -> None:
    store.memory_folder.mkdir(parents=True)
    (store.memory_folder / "2026-04-01.md").write_text("- by hand\n", encoding="utf-8")
    design = layers(store, index)
    design.maintenance.look()
    assert design.maintenance.schedule().next_consolidation == NOW + 30 * MINUTE


def test_a_candidate_that_waits_is_not_asked_about_again_until_it_is_decided(
    store: Workspace, index: MemoryIndex
) -> None:
    noted(store, "a fact about the lab")
    design = layers(store, index, review="always")
    design.maintenance.request(NOW)
    report = design.maintenance.tick(NOW + HOUR)
    assert report is not None and outcomes(report)["consolidate"] == "waiting"
    assert design.maintenance.schedule().next_consolidation is None
    noted(store, "another fact")
    design.memory.accept(1)
    assert design.maintenance.schedule().next_consolidation is not None


def test_a_consolidation_by_hand_answers_the_request_and_is_told_of(store: Workspace, index: MemoryIndex) -> None:
    noted(store, "a fact about the lab")
    design = layers(store, index)
    heard: list[Event] = []
    design.maintenance.heard = heard.append
    design.maintenance.request(NOW)
    assert design.memory.consolidate().outcome == "applied"
    assert design.maintenance.schedule().next_consolidation is None
    (event,) = heard
    assert isinstance(event, ConsolidationFinished) and (event.entries, event.added, event.pending) == (1, 1, 0)


def test_the_last_cycle_is_known_to_the_next_kernel(store: Workspace, index: MemoryIndex) -> None:
    layers(store, index).maintenance.run(NOW)
    status = layers(store, index).maintenance.status()
    assert (status.last_cycle, status.next_cycle) == (NOW, NOW + 6 * HOUR)


def test_a_state_that_can_not_be_written_storms_nobody(store: Workspace, index: MemoryIndex) -> None:
    store.watermark_path.mkdir(parents=True)
    noted(store, "a fact about the lab")
    design = layers(store, index)
    report = design.maintenance.tick(NOW + 7 * HOUR)
    assert report is not None and outcomes(report)["consolidate"] == "failed"
    schedule = design.maintenance.schedule()
    assert schedule.next_cycle == NOW + 13 * HOUR and schedule.next_run > NOW + 7 * HOUR
    assert ".consolidation_state" in design.maintenance.status().warnings[0]


def test_the_status_says_what_came_of_each_step_and_what_is_next(store: Workspace, index: MemoryIndex) -> None:
    noted(store, "a fact about the lab", "another fact")
    design = layers(store, index, review="always")
    design.maintenance.run(NOW)
    status = design.maintenance.status()
    assert repr(status) == "MaintenanceStatus(2 log entries pending)"
    assert str(status).splitlines() == [
        "pending             2 log entries",
        "last cycle          2026-04-12 09:30",
        "next cycle          2026-04-12 15:30",
        "next consolidation  with the next cycle",
        "expire              nothing",
        "consolidate         waiting (Candidate 1 waits for review: every change is reviewed.)",
        "prune               nothing",
        "reindex             done",
    ]
    assert list(design.maintenance.runs.df["step"]) == ["expire", "consolidate", "prune", "reindex"]
    for result in (status, design.maintenance.runs, design.maintenance.runs[0]):
        assert {"text/plain", "text/html"} <= set(result._repr_mimebundle_())
        assert str(result) and len(result.df)


def test_r094_background_work_prints_nothing(
    store: Workspace, index: MemoryIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    noted(store, "a fact about the lab")
    layers(store, index, ModelError("stuck")).maintenance.run()
    assert capsys.readouterr() == ("", "")


def test_a_look_at_the_schedule_is_cheap(store: Workspace, index: MemoryIndex) -> None:
    upkeep: Maintenance = layers(store, index).maintenance
    start = time.perf_counter()
    for _ in range(100):
        upkeep.tick(NOW)
    assert (time.perf_counter() - start) / 100 < 0.005
