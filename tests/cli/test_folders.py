from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb.cli.folders import copy_notebooks, notebooks_folder, writable, write
from harness_nb.errors import StoreError


def test_the_notebooks_of_the_checkout_are_found() -> None:
    assert (notebooks_folder() / "00_quickstart.ipynb").exists()


def test_all_notebooks_are_copied_once(tmp_path: Path) -> None:
    first, second = copy_notebooks(tmp_path / "mine"), copy_notebooks(tmp_path / "mine")
    assert "00_quickstart.ipynb" in first.new
    assert (second.new, second.same, second.kept) == ((), first.new, ())
    source = notebooks_folder() / "00_quickstart.ipynb"
    assert (tmp_path / "mine" / "00_quickstart.ipynb").read_bytes() == source.read_bytes()


def test_a_notebook_that_the_user_changed_stays_as_it_is(tmp_path: Path) -> None:
    copy_notebooks(tmp_path)
    mine = tmp_path / "00_quickstart.ipynb"
    mine.write_text("mine", encoding="utf-8")
    assert copy_notebooks(tmp_path).kept == ("00_quickstart.ipynb",)
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_folder_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=r"file/folder' can't be written: Not a directory"):
        writable(tmp_path / "file" / "folder")


def test_a_file_that_can_not_be_written_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="can't be written: Is a directory"):
        write(tmp_path, "text")
