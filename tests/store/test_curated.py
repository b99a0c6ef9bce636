from __future__ import annotations

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
