from __future__ import annotations

import asyncio
import os
import sqlite3
import time

import pytest

from harness_nb.core.config import MemoryConfig
from harness_nb.core.messages import Message
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ModelError
from harness_nb.memory.design import MemoryDesign, TwoLayers
from harness_nb.memory.injection import Injection
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

COUNTER = CharsCounter()
SAID = [(0, Message.user("My lab uses Python 3.11.")), (1, Message.assistant("Good to know."))]


def design(store: Workspace, index: MemoryIndex, *flush: object, **settings: object) -> TwoLayers:
    return TwoLayers(store, index, ScriptedModel(flush=list(flush)), MemoryConfig(**settings))  # type: ignore[arg-type]


def test_the_two_layers_are_a_memory_design(store: Workspace, index: MemoryIndex) -> None:
    layers: MemoryDesign = design(store, index)
    names = ["memory_search", "memory_get", "read_file", "memory_save", "session_search", "session_history"]
    assert [tool.name for tool in layers.tools()] == names
    assert layers.flushes_after_turn


def test_settings_switch_parts_off(store: Workspace, index: MemoryIndex) -> None:
    store.curated.replace("- likes tea\n" * 4_000)
    layers = design(store, index, flush="never", inject=False, tools=False)
    assert layers.tools() == () and not layers.flushes_after_turn and layers.injection(COUNTER) == Injection()
    assert "memory_search" not in design(store, index, tools=False).injection(COUNTER).text


def test_a_change_of_the_file_is_injected_at_the_next_request(store: Workspace, index: MemoryIndex) -> None:
    layers = design(store, index)
    assert layers.injection(COUNTER).text == ""
    store.curated.replace("- likes tea\n")
    assert "tea" in layers.injection(COUNTER).text
    before = os.stat(store.curated.path)
    store.curated.replace("- likes rum\n")
    os.utime(store.curated.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "rum" in layers.injection(COUNTER).text
    store.curated.path.unlink()
    assert layers.injection(COUNTER).text == ""


def test_an_unchanged_file_is_injected_again_without_reading_it(store: Workspace, index: MemoryIndex) -> None:
    store.curated.replace("- likes tea\n" * 2_000)
    layers = design(store, index)
    first = layers.injection(COUNTER)
    start = time.perf_counter()
    assert all(layers.injection(COUNTER) is first for _ in range(200))
    assert (time.perf_counter() - start) / 200 < 0.0005


def test_a_memory_that_cannot_be_read_stops_no_turn(store: Workspace, index: MemoryIndex) -> None:
    store.curated.path.mkdir()
    injection = design(store, index).injection(COUNTER)
    assert injection.text == "" and "MEMORY.md" in injection.problem


def test_facts_are_found_as_soon_as_they_are_flushed(store: Workspace, index: MemoryIndex) -> None:
    layers = design(store, index, "- The lab uses Python 3.11")
    outcome = asyncio.run(layers.flush(SAID, session="s1"))
    assert outcome.facts == ("The lab uses Python 3.11",) and outcome.warning == ""
    assert index.counts()["files"] == 1
    assert layers.memory.search("python")[0].path == outcome.path
    assert layers.memory.status().last_facts == 1


def test_r051_a_failing_flush_shows_in_the_status(store: Workspace, index: MemoryIndex) -> None:
    layers = design(store, index, ModelError("The server said 500."))
    assert asyncio.run(layers.flush(SAID, session="s1")).failed == "The server said 500."
    assert layers.memory.status().last_failure == "The server said 500."


def test_r073_a_busy_index_fails_no_flush_and_no_search(store: Workspace, index: MemoryIndex) -> None:
    index.refresh()
    layers = design(store, index, "- The lab uses Python 3.11")
    other = sqlite3.connect(index.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        outcome = asyncio.run(layers.flush(SAID, session="s1"))
        assert outcome.facts == ("The lab uses Python 3.11",) and outcome.failed == ""
        assert list(layers.memory.search("python")) == []
        assert "another process is writing it" in layers.memory.status().index_state
    finally:
        other.rollback()
        other.close()
    assert len(layers.memory.search("python")) == 1


def test_r075_a_flush_counts_although_indexing_fails(
    store: Workspace, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: str, wait_seconds: float = 0) -> bool:
        raise sqlite3.OperationalError("disk I/O error")

    layers = design(store, index, "- The lab uses Python 3.11")
    with monkeypatch.context() as patch:
        patch.setattr(index, "update", fails)
        outcome = asyncio.run(layers.flush(SAID, session="s1"))
    assert outcome.facts and outcome.failed == "" and "disk I/O error" in outcome.warning
    assert len(layers.memory.search("python")) == 1


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_r100_what_a_flush_makes_is_its_owners_only(store: Workspace, index: MemoryIndex) -> None:
    before = os.umask(0o022)
    try:
        asyncio.run(design(store, index, "- The lab uses Python 3.11").flush(SAID, session="s1"))
    finally:
        os.umask(before)
    log = store.memory_folder / "2026-04-12.md"
    assert oct(log.stat().st_mode)[-3:] == oct(index.path.stat().st_mode)[-3:] == "600"
    assert oct(store.memory_folder.stat().st_mode)[-3:] == "700"


def test_r052_other_writes_work_while_a_flush_waits_for_its_model(store: Workspace, index: MemoryIndex) -> None:
    async def both() -> None:
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def waits(request: object) -> str:
            asked.set()
            await go_on.wait()
            return "- The lab uses Python 3.11"

        flushing = asyncio.create_task(design(store, index, waits).flush(SAID, session="s1"))
        await asked.wait()
        store.write("tasks/plan.md", "# Plan")
        other = await design(store, index, "- Ana owns the cluster").flush(SAID, session="s2")
        go_on.set()
        assert other.facts == ("Ana owns the cluster",)
        assert (await flushing).facts == ("The lab uses Python 3.11",)

    asyncio.run(both())
    assert store.read("tasks/plan.md") == "# Plan" and len(store.daily_log.entries()) == 2
