from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime, time
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_nb.core.clock import Clock
from harness_nb.core.redact import redact
from harness_nb.errors import StoreError
from harness_nb.store.daily_log import DailyLog, Fact, read_entries
from harness_nb.store.workspace import Workspace

TODAY = date(2026, 4, 12)


@pytest.fixture
def log(workspace: Path, clock: Clock) -> DailyLog:
    return Workspace(workspace, clock=clock).daily_log


def add_facts(folder: Path, name: str) -> None:
    log = Workspace(folder, clock=Clock.fixed(datetime(2026, 4, 12, tzinfo=UTC))).daily_log
    for number in range(50):
        log.append([Fact(f"{name} {number}")])


def test_an_entry_is_readable_markdown_with_its_origin_in_a_comment(log: DailyLog) -> None:
    log.append([Fact("The lab uses Python 3.11.", "s1", (12, 14), "user"), Fact("Another.")])
    assert log.path(TODAY).read_text(encoding="utf-8") == (
        "## 09:30:00 +00:00 · flush\n\n"
        "- The lab uses Python 3.11. <!-- session s1 · messages 12-14 · user -->\n"
        "- Another.\n"
    )


def test_an_entry_reads_back_with_all_that_is_known_of_it(log: DailyLog) -> None:
    log.append([Fact("a", "s · 1 -->", (3, 3), "tool")], source="my tool")
    (entry,) = log.entries(TODAY)
    assert (entry.date, entry.time, entry.zone, entry.source) == (TODAY, time(9, 30), "+00:00", "my tool")
    assert (entry.text, entry.session, entry.messages, entry.role) == ("a", "s · 1 -->", (3, 3), "tool")
    assert log.path(TODAY).read_text(encoding="utf-8").split("\n")[entry.line - 1].startswith("- a")


def test_a_heading_that_stands_already_is_not_repeated(log: DailyLog) -> None:
    log.append([Fact("a")])
    log.append([Fact("b")])
    log.append([Fact("c")], source="save")
    text = log.path(TODAY).read_text(encoding="utf-8")
    assert text.count("## ") == 2 and "- a\n- b\n\n## " in text


def test_r049_a_repeat_up_to_case_and_white_space_is_not_written_again(log: DailyLog) -> None:
    assert log.append([Fact("User's lab uses Python 3.11")]) == [Fact("User's lab uses Python 3.11")]
    for text in ("user's lab  uses python 3.11", " User's lab uses Python 3.11\n", "", "  "):
        assert log.append([Fact(text)]) == []
    assert log.append([Fact("new"), Fact("NEW")]) == [Fact("new")]
    assert len(log.entries()) == 2


def test_r053_day_and_time_come_from_one_instant_in_one_zone(workspace: Path) -> None:
    moment = datetime.fromisoformat("2026-04-11T18:53:00+00:00")
    log = Workspace(workspace, clock=Clock.fixed(moment, "Asia/Tokyo")).daily_log
    log.append([Fact("a")])
    (entry,) = log.entries()
    assert (entry.date, entry.time, entry.zone) == (TODAY, time(3, 53), "+09:00")


def test_r054_only_exact_and_valid_dates_are_days(log: DailyLog) -> None:
    log.folder.mkdir(parents=True)
    for name in ("2026-02-03.md", "2026-02-30.md", "20260203.md", "2026-2-3.md", "2026-02-03-deploy.md", "notes.md",
                 "MEMORY.md", "0000-01-01.md", "2026-02-04.MD", "٢٠٢٦-02-03.md", "2026-02-03.md.md"):  # fmt: skip
        (log.folder / name).write_text("- a\n", encoding="utf-8")
    assert log.days() == [date(2026, 2, 3)]


TEXTS = st.text(st.sampled_from("ab\n\r<br>!-&lt;amp#103*_`\\ ") | st.characters(codec="utf-8"), max_size=40)


@given(st.lists(TEXTS | st.sampled_from(["a\n- b", "# a", "<!-- x -->", "&lt;br>", "a<br>b", "---", "* x", "&#10;"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_r063_what_is_read_back_is_what_was_written_an_entry_a_fact(tmp_path: Path, texts: list[str]) -> None:
    log = DailyLog(tmp_path, clock=Clock.fixed(datetime(2026, 4, 12, tzinfo=UTC)), clean=redact)
    log.path(TODAY).unlink(missing_ok=True)
    written = log.append([Fact(text, "s1", (0, 2), "user") for text in texts])
    assert [entry.text for entry in log.entries()] == [fact.text for fact in written]
    assert {" ".join(text.split()).casefold() for text in texts} - {""} == {
        " ".join(fact.text.split()).casefold() for fact in written
    }


def test_a_log_edited_by_hand_is_read(log: DailyLog) -> None:
    text = "# Notes\r\n\r\n* starred\r\nplain <!-- odd\n## 25:99:00 +00:00 · x\n- last --> \n"
    entries = read_entries(text, TODAY)
    assert [(entry.line, entry.text) for entry in entries] == [(3, "starred"), (4, "plain <!-- odd"), (6, "last -->")]
    assert [entry.source for entry in entries] == ["Notes", "Notes", "25:99:00 +00:00 · x"]


def test_an_unfinished_last_line_is_ended_before_an_append(log: DailyLog) -> None:
    log.folder.mkdir(parents=True)
    log.path(TODAY).write_text("- torn", encoding="utf-8")
    log.append([Fact("a")])
    assert [entry.text for entry in log.entries()] == ["torn", "a"]


def test_r084_two_processes_that_add_facts_lose_none(workspace: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(add_facts, [workspace] * 2, ["a", "b"]))
    assert len(Workspace(workspace).daily_log.entries(TODAY)) == 100


def test_a_folder_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("", encoding="utf-8")
    log = Workspace(tmp_path).daily_log
    assert log.days() == []
    with pytest.raises(StoreError, match="memory"):
        log.append([Fact("a")])


def test_an_archived_log_moves_as_it_is(log: DailyLog) -> None:
    log.append([Fact("a")])
    before = log.path(TODAY).read_bytes()
    target = log.archive(TODAY, lambda data: data == before)
    assert target is not None and target.read_bytes() == before and target.parent.name == "archive"
    assert log.days() == [] and log.archive(TODAY, lambda _: True) is None
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_log_that_may_not_go_stays(log: DailyLog) -> None:
    log.append([Fact("a")])
    assert log.archive(TODAY, lambda _: False) is None and log.days() == [TODAY]


def test_what_lies_in_the_archive_is_added_to_and_nothing_stands_there_twice(log: DailyLog) -> None:
    log.append([Fact("a"), Fact("b")])
    log.archive(TODAY, lambda _: True)
    log.append([Fact("b"), Fact("c")])
    again = log.path(TODAY).read_text(encoding="utf-8")
    for _ in range(2):  # the second time as after a crash between the two steps
        target = log.archive(TODAY, lambda _: True)
        assert target is not None
        assert [entry.text for entry in read_entries(target.read_text(encoding="utf-8"), TODAY)] == ["a", "b", "c"]
        log.path(TODAY).write_text(again, encoding="utf-8")
