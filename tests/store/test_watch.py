from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from harness_nb.store import watch
from harness_nb.store.documents import survey
from harness_nb.store.watch import Watch

OLD = 1_700_000_000


def settled(folder: Path) -> Path:
    """A folder that did not change lately."""
    (folder / "memory").mkdir(parents=True)
    for name in ("MEMORY.md", *(f"memory/2026-04-{day:02d}.md" for day in range(1, 9))):
        (folder / name).write_text("- a\n", encoding="utf-8")
        os.utime(folder / name, (OLD, OLD))
    os.utime(folder / "memory" / "2026-04-08.md", (OLD + 5, OLD + 5))
    for path in (folder / "memory", folder):
        os.utime(path, (OLD, OLD))
    return folder


def watched(folder: Path) -> Watch:
    found = Watch.of(folder, survey(folder), time.monotonic(), time.time_ns())
    assert found is not None
    return found


def test_a_folder_that_nobody_touches_is_unchanged(tmp_path: Path) -> None:
    assert watched(settled(tmp_path / "w")).is_unchanged()


@pytest.mark.parametrize("name", ["new.md", "memory/2026-04-09.md"])
def test_a_new_file_is_a_change(tmp_path: Path, name: str) -> None:
    one = watched(settled(tmp_path / "w"))
    (tmp_path / "w" / name).write_text("", encoding="utf-8")
    assert not one.is_unchanged()


def test_a_file_removed_renamed_or_replaced_is_a_change(tmp_path: Path) -> None:
    for number, change in enumerate(("remove", "rename", "replace")):
        folder = settled(tmp_path / str(number))
        one, file = watched(folder), folder / "memory" / "2026-04-01.md"
        (folder / "memory" / "other").write_text("", encoding="utf-8") if change == "replace" else None
        if change == "remove":
            file.unlink()
        elif change == "rename":
            file.rename(folder / "memory" / "2026-05-01.md")
        else:
            os.replace(folder / "memory" / "other", file)
        assert not one.is_unchanged(), change


def test_what_is_appended_to_the_file_that_changed_last_is_a_change(tmp_path: Path) -> None:
    one = watched(settled(tmp_path / "w"))
    with (tmp_path / "w" / "memory" / "2026-04-08.md").open("a", encoding="utf-8") as file:
        file.write("- b\n")
    assert not one.is_unchanged()


def test_after_a_second_all_files_are_looked_at_again(tmp_path: Path) -> None:
    folder = settled(tmp_path / "w")
    one = Watch.of(folder, survey(folder), time.monotonic() - watch.TRUSTED_SECONDS - 0.1, time.time_ns())
    assert one is not None and not one.is_unchanged()


def test_what_changed_a_moment_ago_is_looked_at_again(tmp_path: Path) -> None:
    folder = settled(tmp_path / "w")
    (folder / "now.md").write_text("", encoding="utf-8")
    assert Watch.of(folder, survey(folder), time.monotonic(), time.time_ns()) is None
