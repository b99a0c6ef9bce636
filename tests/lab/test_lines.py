from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb.errors import TranscriptError
from harness_nb.lab.entries import Line, Place, Skipped
from harness_nb.lab.lines import check_readable, read_lines


def lines_of(path: Path, content: bytes) -> list[Line | Skipped]:
    path.write_bytes(content)
    return list(read_lines(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x89PNG\x00\x00", "not a text file"),
        ('{"role": "user"}'.encode("utf-16"), "UTF-16"),
    ],
)
def test_a_file_without_text_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=said) as caught:
        check_readable(path)
    assert repr(str(path)) in caught.value.problem and caught.value.remedy and caught.value.subject == path


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="There is no file"):
        check_readable(tmp_path / "none.jsonl")
    with pytest.raises(TranscriptError, match="is a folder"):
        check_readable(tmp_path)
    with pytest.raises(TranscriptError, match="can't be read"):
        check_readable(Path("nul\0byte"))


def test_lines_keep_their_numbers_over_blank_ones_and_windows_line_ends(tmp_path: Path) -> None:
    found = lines_of(tmp_path / "t", b'\xef\xbb\xbf{"a": 1}\r\n\r\n[2]\r\n')
    assert found == [Line(Place(1), {"a": 1}), Line(Place(3), [2])]


@pytest.mark.parametrize("end", [b"", b"\n  \n"])
def test_r076_a_torn_last_line_is_skipped_with_its_number(tmp_path: Path, end: bytes) -> None:
    found = lines_of(tmp_path / "t", b'{"a":1}\n{"b":2' + end)
    assert found[0] == Line(Place(1), {"a": 1})
    assert isinstance(found[1], Skipped) and found[1].place == Place(2)
    assert len(found) == 2


def test_a_spoilt_line_in_the_middle_is_skipped_and_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    found = lines_of(tmp_path / "t", b'{"a": 1}\nspoilt\n{"b": "\xff"}\n')
    assert [entry.place.line for entry in found] == [1, 2, 3, 3]
    assert found[3] == Line(Place(3), {"b": "\ufffd"})


def test_a_document_over_many_lines_is_one_value(tmp_path: Path) -> None:
    assert lines_of(tmp_path / "t", b'[\n  {"a": 1},\n  {"b": 2}\n]\n') == [Line(Place(), [{"a": 1}, {"b": 2}])]


def test_a_first_line_that_is_spoilt_does_not_hide_the_others(tmp_path: Path) -> None:
    found = lines_of(tmp_path / "t", b'{"a": \n{"b": 2}\n')
    assert found == [Skipped(Place(1), "a line that is not JSON"), Line(Place(2), {"b": 2})]


def test_json_nested_beyond_measure_is_skipped(tmp_path: Path) -> None:
    found = lines_of(tmp_path / "t", b"[" * 200_000 + b"\n[1]\n")
    assert found[-1] == Line(Place(2), [1])


def test_a_place_says_where_in_words() -> None:
    assert [str(Place(*place)) for place in ((3,), (3, 2), (0, 2), ())] == [
        "line 3",
        "line 3, message 2",
        "message 2",
        "the file",
    ]
