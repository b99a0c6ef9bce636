from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from harness_nb.errors import StoreError
from harness_nb.store import files
from harness_nb.store.files import append_text, make_folder, read_text, write_atomic

posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_file_reads_as_none(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none.md") is None
    assert read_text(tmp_path / "none" / "none.md") is None


def test_r080_texts_of_all_scripts_and_line_ends_read_back_as_written(tmp_path: Path) -> None:
    text = "Zoë\r\n数据\n\x0c\u2028"
    write_atomic(tmp_path / "a.md", text)
    assert read_text(tmp_path / "a.md") == text
    assert (tmp_path / "a.md").read_bytes() == text.encode()


def test_r079_what_is_stored_is_valid_utf_8(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.md", "a\ud83db")
    append_text(tmp_path / "a.md", "\ud83d\ude00\n")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "a\ufffdb\n\U0001f600\n"


def test_bytes_that_are_no_utf_8_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a\xffb")
    assert read_text(tmp_path / "a.md") == "a\ufffdb"


def test_r077_an_append_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2')
    append_text(path, '{"c":3}\n')
    assert path.read_bytes() == b'{"a":1}\n{"b":2\n{"c":3}\n'


def test_r085_a_reader_sees_the_old_or_the_new_file(tmp_path: Path) -> None:
    path, seen, is_done = tmp_path / "MEMORY.md", set(), threading.Event()
    write_atomic(path, "0" * 10_000)

    def read() -> None:
        while not is_done.is_set():
            seen.add(read_text(path))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        write_atomic(path, str(number % 10) * 10_000)
    is_done.set()
    reader.join()
    assert all(text is not None and len(text) == 10_000 and len(set(text)) == 1 for text in seen)


def test_r085_a_failure_before_the_replacement_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    write_atomic(path, "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(StoreError, match="MEMORY.md.*No space left on device"):
        write_atomic(path, "new")
    assert read_text(path) == "old"
    assert os.listdir(tmp_path) == ["MEMORY.md"]


@posix
def test_r100_files_and_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "a" / "b.md", "x")
        append_text(tmp_path / "a" / "c.md", "x")
    finally:
        os.umask(before)
    assert [mode(tmp_path / "a" / name) for name in ("b.md", "c.md")] == [0o600, 0o600]
    assert mode(tmp_path / "a") == 0o700
    assert mode(tmp_path / "a" / ".locks" / "c.md.lock") == 0o600


@posix
def test_a_file_that_its_owner_shares_stays_shared(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_atomic(path, "x")
    path.chmod(0o640)
    write_atomic(path, "y")
    assert mode(path) == 0o640


@posix
def test_where_the_name_is_a_link_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old", encoding="utf-8")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    write_atomic(tmp_path / "link.md", "new")
    assert (tmp_path / "link.md").is_symlink()
    assert read_text(tmp_path / "real.md") == "new"


def test_an_error_names_the_path_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for act in (
        lambda: write_atomic(tmp_path / "file" / "a.md", "x"),
        lambda: append_text(tmp_path / "folder", "x"),
        lambda: read_text(tmp_path / "folder"),
    ):
        with pytest.raises(StoreError) as raised:
            act()
        assert str(tmp_path) in raised.value.problem
        assert raised.value.remedy


def test_making_a_folder_that_is_there_does_nothing(tmp_path: Path) -> None:
    make_folder(tmp_path)
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
