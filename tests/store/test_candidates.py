from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_nb.errors import StoreError
from harness_nb.store.candidates import CandidateFiles


@pytest.fixture
def files(tmp_path: Path) -> CandidateFiles:
    return CandidateFiles(tmp_path / "memory" / "candidates")


def test_a_candidate_is_stored_by_number(files: CandidateFiles) -> None:
    assert files.numbers() == []
    for number in (10, 9):
        files.save(number, {"text": f"Zoë {number}"})
    (files.folder / "notes.txt").write_text("", encoding="utf-8")
    (files.folder / "007.json").write_text("{}", encoding="utf-8")
    assert files.numbers() == [9, 10] and files.load(9) == {"text": "Zoë 9"}
    files.remove(9)
    files.remove(9)
    assert files.numbers() == [10]


def test_one_that_is_not_there_is_named_with_those_that_are(files: CandidateFiles) -> None:
    with pytest.raises(StoreError, match="no candidate 3.\nWaiting for review: none"):
        files.load(3)
    files.save(4, {})
    with pytest.raises(StoreError, match="review: 4"):
        files.load(3)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_a_file_that_is_no_candidate_is_named(files: CandidateFiles, text: str) -> None:
    files.save(1, {})
    files.path(1).write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"1\.json' is no candidate"):
        files.load(1)


def test_r100_candidates_are_readable_by_their_owner_only(files: CandidateFiles) -> None:
    before = os.umask(0o022)
    try:
        files.save(1, {})
    finally:
        os.umask(before)
    assert files.path(1).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "candidates").write_text("", encoding="utf-8")
    files = CandidateFiles(tmp_path / "candidates")
    assert files.numbers() == []
    with pytest.raises(StoreError, match="candidates"):
        files.save(1, {})
    with pytest.raises(StoreError, match="candidates"), files.deciding():
        pass
