from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from harness_nb.errors import TranscriptError
from harness_nb.lab.conformance.cases import Given, expand, read_cases
from tests.lab.conformance.recordings import as_lines, case


def test_texts_written_in_short_are_written_out_wherever_they_stand() -> None:
    short = {"concat": ["a", {"repeat": ["bc", 2]}, {"concat": [{"repeat": [{"concat": ["d", "e"]}, 2]}]}]}
    assert expand(short) == "abcbcdede"
    assert expand({"x": [short, {"y": {"repeat": ["z", 0]}}]}) == {"x": ["abcbcdede", {"y": ""}]}
    assert expand([None, 1, True, "a"]) == [None, 1, True, "a"]


def test_a_mapping_that_only_looks_like_a_short_text_stays() -> None:
    assert expand({"repeat": True}) == {"repeat": True}
    assert expand({"repeat": ["a", 2], "other": 1}) == {"repeat": ["a", 2], "other": 1}


def test_cases_are_read_with_their_place_and_blank_lines_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"\n{as_lines(case(), case(id='two', input={'query': 'x'}, quirk='14.1'))}", encoding="utf-8")
    one, two = read_cases([path])
    assert (one.id, one.place, one.note) == ("eney-made", f"{path}:2", "made up")
    assert one.given.messages()[0].text == "ab" * 20
    assert one.given.input == {} and two.given.input == {"query": "x"}


def test_an_adapter_sees_neither_id_nor_note_nor_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(
        as_lines(case(version="v", also=["w"], recorded_by="replica", quirk="q", setup=[1])), encoding="utf-8"
    )
    (only,) = read_cases([path])
    assert [one.name for one in fields(Given)] == ["kind", "config", "wire", "answers", "version", "more"]
    assert set(only.given.more) == {"stub", "setup"}


def test_messages_can_be_marked_as_the_systems_own() -> None:
    given = Given(kind="x", wire=({"role": "user", "content": "a"}, {"role": "user", "content": "b"}))
    assert [message.origin for message in given.messages(by_harness=[1])] == ["user", "harness"]


@pytest.mark.parametrize("line", ["{", "[]", '"text"', '{"id": "x"}', '{"id": "x", "system": "eney", "kind": "k"}'])
def test_a_line_that_is_no_case_is_refused_with_file_and_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{as_lines(case())}{line}\n", encoding="utf-8")
    with pytest.raises(TranscriptError) as caught:
        list(read_cases([path]))
    assert f"{path}:2" in caught.value.problem and "expect" in caught.value.remedy


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\xff\xfe")
    for path, said in ((tmp_path / "none.jsonl", "No such file"), (broken, "not UTF-8")):
        with pytest.raises(TranscriptError) as caught:
            list(read_cases([path]))
        assert path.name in caught.value.problem and said in caught.value.problem
