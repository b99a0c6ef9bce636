from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_nb.store.sessions import SessionFiles

TEXT = st.text(max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def session(folder: Path) -> SessionFiles:
    return SessionFiles(folder, "agent", "s1")


def test_records_come_back_in_order(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"n": 1, "text": "Zoë\n数据"}, {"n": 2}])
    files.append([])
    files.append([{"n": 3}])
    assert files.load().records == [{"n": 1, "text": "Zoë\n数据"}, {"n": 2}, {"n": 3}]
    assert files.load().warnings == []


@given(st.lists(st.dictionaries(TEXT, JSON, max_size=3), min_size=1, max_size=3))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_record_comes_back_as_it_was(tmp_path: Path, records: list[dict[str, object]]) -> None:
    files = SessionFiles(tmp_path, "agent", str(time.perf_counter_ns()))
    files.append(records)
    assert files.load().records == records
    files.save_view({"items": records, "state": records[0]})
    view = files.load_view()
    assert view is not None and view["items"] == records and view["state"] == records[0]


def test_r076_a_torn_last_line_is_skipped_with_its_number(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"a": 1}])
    for end in (b'{"b":2', b'{"b":2\n\n'):
        files.log_path.write_bytes(b'{"a":1}\n' + end)
        loaded = files.load()
        assert loaded.records == [{"a": 1}]
        assert loaded.warnings == ["Line 2 of s1.log.jsonl is no complete record and was skipped."]


def test_r077_a_record_written_after_a_crash_is_readable(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"a": 1}])
    with files.log_path.open("ab") as file:
        file.write(b'{"b":2')
    files.append([{"c": 3}])
    assert files.load().records == [{"a": 1}, {"c": 3}]


def test_lines_that_hold_no_record_are_skipped(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"a": 1}])
    with files.log_path.open("ab") as file:
        file.write(b"[1]\n\xff\xfe\n" + b"[" * 100_000 + b"\n\0\n")
    assert files.load().records == [{"a": 1}]
    assert len(files.load().warnings) == 4


def test_r079_lone_surrogates_come_back_and_the_file_is_valid_utf_8(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"text": "a\ud83db"}])
    assert files.load().records == [{"text": "a\ud83db"}]
    files.log_path.read_text(encoding="utf-8")


def test_a_view_that_is_missing_torn_or_of_another_version_is_none(tmp_path: Path) -> None:
    files = session(tmp_path)
    assert files.load_view() is None
    files.save_view({"state": {"n": 1}, "items": [{"index": 0}, {"index": 1}]})
    whole = files.view_path.read_text(encoding="utf-8")
    assert len(whole.splitlines()) == 3
    for damaged in ("", whole[:-5], "{}\n", whole.replace('"version":1', '"version":99'), "[]\n" + whole):
        files.view_path.write_text(damaged, encoding="utf-8")
        assert files.load_view() is None


def test_a_session_exists_when_it_has_a_log_or_a_view(tmp_path: Path) -> None:
    files = session(tmp_path)
    assert not files.exists and files.last_activity() is None
    files.save_view({"items": []})
    assert files.exists


def test_r086_the_last_activity_is_the_time_of_the_last_dated_record(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"time": "2026-04-11T09:30:00+00:00"}, {"n": 1, "text": "x" * 1000}, {"time": "bad"}])
    os.utime(files.log_path, (0, 0))
    assert files.last_activity() == datetime(2026, 4, 11, 9, 30, tzinfo=UTC)


def test_the_last_activity_of_undated_records_is_that_of_the_file(tmp_path: Path) -> None:
    files = session(tmp_path)
    files.append([{"n": 1}])
    os.utime(files.log_path, (86_400, 86_400))
    assert files.last_activity() == datetime(1970, 1, 2, tzinfo=UTC)


def test_names_of_agents_and_sessions_stay_inside_the_folder(tmp_path: Path) -> None:
    files = SessionFiles(tmp_path, "../../x", "../y.log")
    files.append([{"n": 1}])
    assert files.log_path.resolve().is_relative_to(tmp_path.resolve())
    assert files.view_path != SessionFiles(tmp_path, "../../x", "../y").log_path


def test_an_append_costs_a_fraction_of_a_millisecond(tmp_path: Path) -> None:
    files = session(tmp_path)
    record = {"kind": "message", "message": {"content": "a token, a key and other words " * 32}}
    files.append([record])
    began = time.process_time()
    for _ in range(200):
        files.append([record])
    assert (time.process_time() - began) / 200 < 0.001  # about 0.15 ms on an idle computer
