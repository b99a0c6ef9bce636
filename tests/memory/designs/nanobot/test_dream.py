"""Dream runs: what they read, may write, and how they are undone; and the design that has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb.agent.runner import runner
from harness_nb.core.clock import Clock
from harness_nb.core.config import MaintenanceConfig
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ModelError, ToolError
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.nanobot.design import NanobotMemory
from harness_nb.memory.designs.nanobot.dream_tools import DreamFiles
from harness_nb.model.scripted import ScriptedModel
from harness_nb.presets.nanobot import memory_settings
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

MEMORY = "memory/MEMORY.md"
EDIT = ToolCall("e1", "edit_file", json.dumps({"path": MEMORY, "old_text": "RK45", "new_text": "DOP853"}))
FAILING = ToolCall("e1", "edit_file", json.dumps({"path": MEMORY, "old_text": "not there", "new_text": "x"}))
ERROR = Message.assistant("boom", finish="error")


@pytest.fixture
def parts(workspace: Path, clock: Clock) -> Iterator[DesignParts]:
    place = Workspace(workspace, clock=clock)
    place.ensure()
    place.write(MEMORY, "# Memory\n- solver: RK45\n")
    index = MemoryIndex.of(place)
    maintenance = MaintenanceConfig(interval=timedelta(hours=2))
    yield DesignParts(workspace=place, index=index, model=ScriptedModel([]), maintenance=maintenance, run=runner.wait)
    index.close()


def memory_of(
    parts: DesignParts, *replies: Any, variant: str = "head", entries: int = 3, **settings: Any
) -> NanobotMemory:
    from dataclasses import replace

    model = ScriptedModel(purposes={"dream": list(replies)}, repeat_last=True)
    made = NanobotMemory(replace(parts, model=model), memory_settings(variant, **settings))
    made.begin("s1")
    made.remember(tuple(f"[durable] fact {number}" for number in range(entries)))
    return made


def dreamt(memory: NanobotMemory) -> Any:
    return runner.wait(memory.run_dream())


# What a run does


def test_a_run_edits_files_makes_a_version_and_counts_its_entries_as_read(parts: DesignParts) -> None:
    memory = memory_of(parts, [EDIT], "done")
    report = dreamt(memory)
    assert (report.outcome, report.read_upto, report.model_calls) == ("completed", 3, 2)
    assert report.tools == ("apply_patch", "edit_file", "read_file", "write_file")
    assert parts.workspace.read(MEMORY) == "# Memory\n- solver: DOP853\n"
    version = memory.dreams()[0]
    assert version.id == report.version
    assert version.body.startswith(f"{MEMORY}: +1 -1")
    assert dreamt(memory).outcome == "no_input"


@pytest.mark.parametrize(
    ("variant", "replies", "outcome", "read"),
    [
        ("july", ([FAILING], "done"), "no_changes", 0),
        ("head", ([FAILING], "done"), "no_changes", 3),
        ("july", ([EDIT], ERROR), "completed", 3),
        ("head", ([EDIT], ERROR), "incomplete", 0),
        ("july", (ERROR,), "incomplete", 0),
        ("head", (ModelError("down", ""),), "failed", 0),
    ],
)
def test_when_entries_count_as_read(parts: DesignParts, variant: str, replies: Any, outcome: str, read: int) -> None:
    report = dreamt(memory_of(parts, *replies, variant=variant))
    assert (report.outcome, report.read_upto) == (outcome, read)


def test_a_run_that_never_ends_is_stopped_and_tried_again(parts: DesignParts) -> None:
    look = ToolCall("r", "read_file", json.dumps({"path": MEMORY}))
    report = dreamt(memory_of(parts, [look], dream_max_steps=3))
    assert (report.outcome, report.model_calls, report.read_upto) == ("incomplete", 4, 0)


def test_a_run_reads_the_oldest_entries_shortened_and_the_files_as_they_are(parts: DesignParts) -> None:
    memory = memory_of(parts, dream_batch=2, dream_preview_chars=9)
    batch = memory.dream().batch()
    assert batch is not None
    assert batch.last_cursor == 2
    assert batch.history.count("[durable]\n... (truncated)") == 2
    assert batch.files == {"SOUL.md": "(empty)", "USER.md": "(empty)", MEMORY: "# Memory\n- solver: RK45\n"}
    parts.workspace.write("prompts/dream.md", "my own guide\n")
    own = memory.dream().batch()
    assert own is not None
    assert own.prompt.startswith("my own guide\n\n## Current Memory Files\n### SOUL.md\n(empty)")


# What it may write


@pytest.mark.parametrize(
    "path", ["memory/history.jsonl", "memory/.dream_cursor", "notes.md", f"{MEMORY}/x", "../out.md"]
)
def test_nothing_but_the_three_files_and_skills_can_be_written(parts: DesignParts, path: str) -> None:
    files = DreamFiles(parts.workspace, writes_memory_whole=True)
    for attempt in (lambda: files.write(path, "x"), lambda: files.edit(path, "", "x")):
        with pytest.raises(ToolError):
            attempt()


def test_july_edits_the_memory_files_and_head_may_write_them_anew(parts: DesignParts) -> None:
    with pytest.raises(ToolError, match="can't be written"):
        DreamFiles(parts.workspace, writes_memory_whole=False).write(MEMORY, "new")
    DreamFiles(parts.workspace, writes_memory_whole=True).write(MEMORY, "new")
    assert parts.workspace.read(MEMORY) == "new"


def test_an_edit_needs_a_text_that_is_there_once(parts: DesignParts) -> None:
    files = DreamFiles(parts.workspace, writes_memory_whole=False)
    files.write("skills/a/SKILL.md", "x y x")
    with pytest.raises(ToolError, match="2 times"):
        files.edit("skills/a/SKILL.md", "x", "z")
    files.edit("skills/a/SKILL.md", "x", "z", replace_all=True)
    assert files.read("skills/a/SKILL.md") == "z y z"


def test_a_patch_adds_and_replaces(parts: DesignParts) -> None:
    files = DreamFiles(parts.workspace, writes_memory_whole=False)
    add = {"path": "skills/b/SKILL.md", "action": "add", "new_text": "steps"}
    files.patch([add, {"path": MEMORY, "action": "replace", "old_text": "RK45", "new_text": "LSODA"}])
    assert files.read("skills/b/SKILL.md") == "steps"
    assert "LSODA" in files.read(MEMORY)
    with pytest.raises(ToolError, match="already"):
        files.patch([add])


# The way back


def test_a_run_can_be_undone_and_its_entries_are_dreamt_again(parts: DesignParts) -> None:
    more = ToolCall("e2", "edit_file", json.dumps({"path": MEMORY, "old_text": "DOP853", "new_text": "LSODA"}))
    memory = memory_of(parts, [EDIT], "done", [more], "done")
    dreamt(memory)
    memory.remember(("[durable] later",))
    dreamt(memory)
    assert memory.history.read_upto == 4
    assert memory.restore(memory.dreams()[0].id)
    assert (parts.workspace.read(MEMORY), memory.history.read_upto) == ("# Memory\n- solver: DOP853\n", 3)
    assert not memory.restore("unknown")
    assert not memory.restore(memory.versions.all()[0].id)


def test_line_ends_alone_are_no_change(parts: DesignParts) -> None:
    memory = memory_of(parts)
    memory.versions.begin()
    (parts.workspace.path / MEMORY).write_bytes(b"# Memory\r\n- solver: RK45\r\n")
    assert memory.versions.changes() == ""
    assert memory.versions.commit("dream: x") is None


# In the prompt and in the background


def test_files_new_entries_and_the_summary_stand_in_one_marked_block(parts: DesignParts) -> None:
    parts.workspace.write("USER.md", "# User\n- Ada\n")
    memory = memory_of(parts, entries=2)
    shown = memory.injection(CharsCounter())
    places = [
        shown.text.index(one) for one in ("- Ada", "RK45", "# Recent History", "fact 0", "[Archived Context Summary]")
    ]
    assert places == sorted(places)
    assert shown.message is not None
    assert shown.message.role == "user"
    assert shown.text.count("fact 1") == 1  # head shows the summary once
    memory.begin("other")
    assert "fact" not in memory.injection(CharsCounter()).text


def test_the_summary_of_a_session_outlives_a_restart_and_dumps_are_none(parts: DesignParts) -> None:
    memory = memory_of(parts, entries=1)
    memory.remember(("[RAW] 1 messages\n[?] USER: x", "(nothing)"))
    again = memory_of(parts, entries=0)
    assert again.summary == "[durable] fact 0"
    again.set_summary("", "")
    assert memory_of(parts, entries=0).summary == ""


def test_a_broken_line_costs_july_the_block_and_not_the_turn(parts: DesignParts) -> None:
    memory = memory_of(parts, variant="july", strict_lines=True)
    with memory.history.path.open("a") as file:
        file.write("[1, 2]\n")
    assert memory.injection(CharsCounter()).problem.startswith("The memory can't be read")


def test_the_maintenance_cycle_dreams_what_was_archived(parts: DesignParts) -> None:
    memory = memory_of(parts, [EDIT], "done")
    assert memory.maintenance is not None
    report = runner.wait(memory.consolidate())
    assert (report.outcome, report.pending) == ("applied", 0)
    assert memory.dreams()[0].subject == "dream: periodic memory consolidation"
    off = memory_of(parts, dream_enabled=False)
    assert (off.maintenance, off.history.unread(0)[-1].cursor) == (None, 6)
