from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.clock import Clock
from harness_nb.store.watermark import (
    ConsolidationState,
    Mark,
    Watermark,
    mark_of,
    mark_upto,
    merged_lines,
)
from harness_nb.store.workspace import Workspace

DAY = date(2026, 4, 12)
NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)


@pytest.fixture
def watermark(workspace: Path, clock: Clock) -> Watermark:
    return Watermark(Workspace(workspace).watermark_path, clock=clock)


def test_without_a_file_there_is_no_mark(watermark: Watermark) -> None:
    assert watermark.read() == (ConsolidationState(), "")


def test_what_is_written_is_read(watermark: Watermark) -> None:
    state = ConsolidationState(
        marks={DAY: Mark(3, "a")}, last_success=NOW, last_attempt=NOW, failures=2, memory_hash="b", last_candidate=7,
        last_cycle=NOW - timedelta(hours=1),
    )  # fmt: skip
    assert watermark.change(lambda _: state) == state
    assert watermark.read() == (state, "")
    record = json.loads(watermark.path.read_text(encoding="utf-8"))
    assert record["files"] == {"2026-04-12.md": {"bytes": 3, "hash": "a"}} and record["version"] == 1


def stored(**changed: object) -> str:
    return json.dumps({"version": 1, "files": {}, **changed})


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "tomorrow", "\x00\xff\xfe", "null", "1e999", "{}", "[" * 100_000,
        stored(version=2), stored(files=[]), stored(files={"notes.md": {"bytes": 1, "hash": ""}}),
        stored(files={"2026-04-12.md": {"bytes": -1, "hash": ""}}), stored(files={"2026-04-12.md": {"bytes": "9"}}),
        stored(last_success="2099-01-01T00:00:00+00:00"), stored(last_attempt="tomorrow"),
        stored(last_cycle="2026-04-12T09:00:00"), stored(failures=-1), stored(failures="many"), stored(last_candidate=-2),
    ],
)  # fmt: skip
def test_r060_an_absurd_state_counts_as_no_mark_with_a_warning(watermark: Watermark, text: str) -> None:
    watermark.path.parent.mkdir(parents=True)
    watermark.path.write_bytes(text.encode("latin-1"))
    state, warning = watermark.read()
    assert state == ConsolidationState()
    assert ".consolidation_state can't be used" in warning and "not merged yet" in warning
    assert watermark.change(lambda known: replace(known, failures=1)).failures == 1
    assert watermark.read()[1] == ""


def test_a_clock_that_was_set_back_a_little_does_not_undo_the_marks(watermark: Watermark) -> None:
    ahead = NOW + timedelta(minutes=5)
    watermark.change(lambda known: replace(known, last_success=ahead, marks={DAY: Mark(1, "a")}))
    state, warning = watermark.read()
    assert (state.last_success, warning) == (NOW, "") and DAY in state.marks


def test_a_mark_holds_while_its_bytes_are_the_same() -> None:
    data = b"## a\n\n- one\n- two\n"
    mark = mark_upto(data, 3)
    assert mark == mark_of(b"## a\n\n- one\n")
    assert merged_lines(data, mark) == 3 and merged_lines(data + b"- three\n", mark) == 3
    assert merged_lines(data.replace(b"one", b"ONE"), mark) == 0
    assert merged_lines(data[:8], mark) == 0
    assert merged_lines(data, None) == merged_lines(data, mark_of(b"")) == 0


def test_a_last_line_without_an_end_is_a_line() -> None:
    assert merged_lines(b"- a\n- b", mark_of(b"- a\n- b")) == 2
    assert merged_lines(b"- a\n- b\n- c\n", mark_of(b"- a\n- b")) == 2
    assert mark_upto(b"- a\n- b", 9) == mark_of(b"- a\n- b")


@given(st.lists(st.text(max_size=5)), st.integers(0, 8))
def test_a_mark_behind_a_line_merges_this_many_lines(lines: list[str], line: int) -> None:
    data = "".join(f"{one.replace(chr(10), '')}\n" for one in lines).encode("utf-8", "surrogatepass")
    assert merged_lines(data, mark_upto(data, line)) == min(line, data.count(b"\n"))


def test_r100_the_state_is_readable_by_its_owner_only(watermark: Watermark) -> None:
    before = os.umask(0o022)
    try:
        watermark.change(lambda known: known)
    finally:
        os.umask(before)
    assert watermark.path.stat().st_mode & 0o777 == 0o600
    assert watermark.path.parent.stat().st_mode & 0o777 == 0o700
