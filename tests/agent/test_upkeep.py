from __future__ import annotations

import importlib
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb import MaintenanceConfig, MemoryConfig
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import Event
from harness_nb.errors import ConfigError, ModelError
from harness_nb.memory import maintenance_thread
from harness_nb.memory.maintenance_thread import PREFIX, wake
from harness_nb.model.scripted import ScriptedModel
from tests.agent.conftest import Make

TOLD = "My lab uses Python 3.11."


def threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith(PREFIX)]


def flushing(**scripts: Any) -> dict[str, Any]:
    """An agent that notes a fact after its turn."""
    model = ScriptedModel(chat=["Noted."], repeat_last=True, flush=["- The lab uses Python 3.11"], **scripts)
    return {"model": model, "memory": MemoryConfig()}


def test_what_was_said_is_noted_consolidated_and_injected(make: Make) -> None:
    agent = make(**flushing())
    agent.ask(TOLD)
    assert agent.memory.pending().summary == "1 log entry to merge"
    report = agent.consolidate()
    assert report.entries == 1 and "The lab uses Python 3.11" in str(agent.memory.show())
    assert [event.kind for event in agent.events][-1] == "consolidation_finished"
    assert agent.frames.pending().empty and agent.frames.daily_logs().iloc[0]["state"] == "merged"
    assert agent.memory_tokens > 0


def test_a_cycle_by_hand_is_reported_told_and_kept(make: Make) -> None:
    heard: list[Event] = []
    agent = make(**flushing(), hooks=[heard.append])
    agent.ask(TOLD)
    report = agent.maintain()
    assert [step.outcome for step in report.steps] == ["nothing", "done", "nothing", "done"]
    assert {"consolidation_finished", "maintenance_finished"} <= {event.kind for event in heard}
    assert len(agent.frames.maintenance()) == 4 and agent.maintenance.status().pending == 0
    assert agent.frames.events()["summary"].iloc[-1].startswith("maintenance: expire: nothing; consolidate: done")


def test_a_failing_consolidation_costs_no_turn(make: Make) -> None:
    agent = make(**flushing(consolidation=[ModelError("stuck")]))
    agent.ask(TOLD)
    assert agent.consolidate().outcome == "failed" and agent.ask("And?").text == "Noted."
    assert agent.memory.status().failures == 1


def test_r088_building_an_agent_ten_times_leaves_one_thread(make: Make) -> None:
    for _ in range(10):
        make(**flushing(), session="s1").ask(TOLD)
    assert len(threads()) == 1
    importlib.reload(maintenance_thread)
    make(**flushing(), session="s1").ask(TOLD)
    assert len(threads()) == 1


def test_no_thread_begins_before_the_first_turn_or_without_maintenance(make: Make) -> None:
    make(**flushing())
    make(**flushing(), maintenance=None).ask(TOLD)
    assert threads() == []


def test_without_maintenance_in_the_background_a_cycle_can_be_run_by_hand(make: Make) -> None:
    agent = make(**flushing(), maintenance=None)
    agent.ask(TOLD)
    assert agent.maintain()["consolidate"].outcome == "done" and agent.settings["maintenance"] is None


def test_closing_the_last_agent_ends_the_thread(make: Make) -> None:
    agent = make(**flushing())
    agent.ask(TOLD)
    (thread,) = threads()
    agent.close()
    thread.join(5)
    assert not thread.is_alive()


def test_new_facts_are_merged_in_the_background_once_the_gap_is_over(make: Make, workspace: Path) -> None:
    moment = [datetime(2026, 4, 12, 9, 30, tzinfo=UTC)]
    done = threading.Event()
    agent = make(
        **flushing(),
        clock=Clock(read=lambda: moment[0]),
        hooks=[lambda event: done.set() if event.kind == "maintenance_finished" else None],
    )
    agent.ask(TOLD)
    assert agent.memory.pending().entries and not done.is_set()
    moment[0] += timedelta(minutes=31)
    wake(agent.maintenance)
    assert done.wait(5)
    assert "Python 3.11" in (workspace / "MEMORY.md").read_text(encoding="utf-8")


def test_settings_are_checked_and_shown(make: Make) -> None:
    with pytest.raises(ConfigError, match="maintenance='6h' is not valid"):
        make(maintenance="6h")
    config = MaintenanceConfig(interval=timedelta(hours=1), daily_file_retention_days=0)
    agent = make(maintenance=config)
    assert agent.settings["maintenance.interval"] == timedelta(hours=1)
    assert agent.maintenance.config == config
    assert repr(config) == "MaintenanceConfig(interval=datetime.timedelta(seconds=3600), daily_file_retention_days=0)"


def test_r086_the_session_in_use_is_never_pruned(make: Make, workspace: Path) -> None:
    long_ago = Clock.fixed(datetime(2025, 1, 1, tzinfo=UTC))
    with HarnessAgent("old", model="offline", workspace=workspace, clock=long_ago, maintenance=None) as old:
        old.ask("hello there")
    kept = HarnessAgent("kept", model="offline", workspace=workspace, clock=long_ago, maintenance=None)
    kept.ask("hello there")
    report = make(**flushing()).maintain()
    assert all(name.startswith("agents/old/") for name in report["prune"].files) and len(report["prune"].files) >= 1
    assert len(report["prune"].stayed) == 1 and "agents/kept/" in report["prune"].stayed[0]
    kept.close()
