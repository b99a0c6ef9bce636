from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.errors import StoreError
from harness_nb.store.curated import Curated
from harness_nb.store.workspace import Workspace


def curated(folder: Path) -> Curated:
    return Workspace(folder).curated


def add_lines(folder: Path, name: str) -> None:
    for number in range(50):
        curated(folder).change(lambda text, line=f"- {name} {number}\n": text + line)


def test_a_missing_file_is_empty(workspace: Path) -> None:
    assert curated(workspace).read() == ""


def test_the_version_before_each_replacement_is_kept(workspace: Path, clock: Clock) -> None:
    memory = Workspace(workspace, clock=clock).curated
    for text in ("one\n", "two\n", "two\n", "three\n"):
        memory.replace(text)
    assert memory.read() == "three\n"
    assert sorted(one.path.read_text(encoding="utf-8") for one in memory.versions()) == ["one\n", "two\n"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_r055_an_empty_text_is_refused(workspace: Path, text: str) -> None:
    memory = curated(workspace)
    memory.replace("one")
    with pytest.raises(StoreError, match="empty"):
        memory.replace(text)
    assert memory.read() == "one"


def test_r084_two_processes_that_change_the_file_lose_nothing(workspace: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(add_lines, [workspace] * 2, ["a", "b"]))
    assert len(set(curated(workspace).read().splitlines())) == 100


def test_a_file_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="ws"):
        curated(tmp_path / "ws").replace("a")


def test_versions_are_numbered_in_order_at_any_time(workspace: Path, clock: Clock) -> None:
    memory = Workspace(workspace, clock=clock).curated
    for number in range(12):
        memory.replace(f"- {number}\n")
    versions = memory.versions()
    assert [one.number for one in versions] == list(range(1, 12))
    assert [memory.version(one.number) for one in versions] == [f"- {number}\n" for number in range(11)]
    assert versions[0].time == clock.now() and versions[0].path.name == "MEMORY-00001-20260412T093000Z.md"
    (memory.versions_folder / "MEMORY-99999-2026.md").write_text("", encoding="utf-8")
    (memory.versions_folder / "MEMORY-99999-20269912T093000Z.md").write_text("", encoding="utf-8")
    assert memory.versions() == versions


def test_a_restored_version_is_the_text_again_and_the_one_before_is_kept(workspace: Path, clock: Clock) -> None:
    memory = Workspace(workspace, clock=clock).curated
    for text in ("one\n", "two\n"):
        memory.replace(text)
    memory.restore(1)
    assert memory.read() == "one\n" and memory.version(2) == "two\n"
    with pytest.raises(StoreError, match="no version 3 of MEMORY.md.\nKept: from 1 to 2"):
        memory.restore(3)


def test_a_replacement_that_broke_off_leaves_no_second_version(workspace: Path, clock: Clock) -> None:
    memory = Workspace(workspace, clock=clock).curated
    memory.replace("one\n")
    memory._keep("one\n")  # as a crash behind this step leaves it
    memory.replace("two\n")
    assert [memory.version(one.number) for one in memory.versions()] == ["one\n"]


def test_r100_memory_and_versions_are_readable_by_their_owner_only(workspace: Path) -> None:
    before = os.umask(0o022)
    try:
        memory = curated(workspace)
        memory.replace("one")
        memory.replace("two")
    finally:
        os.umask(before)
    for path in (memory.path, memory.versions()[0].path):
        assert path.stat().st_mode & 0o777 == 0o600
