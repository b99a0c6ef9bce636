"""The archive on disk: cursors, what is shown to whom, and what is dropped."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.clock import Clock
from harness_nb.memory.designs.nanobot.history import History
from harness_nb.memory.designs.nanobot.legacy import take_over


@pytest.fixture
def history(tmp_path: Path, clock: Clock) -> History:
    return History(tmp_path, clock, max_entries=3)


def cursors(entries: Any) -> list[int]:
    return [entry.cursor for entry in entries]


def test_entries_are_numbered_dated_and_belong_to_a_session(history: History, clock: Clock) -> None:
    first = history.append("one  \n", session_key="a")
    second = history.append("<think>x</think>")
    assert first.record == {
        "cursor": 1,
        "timestamp": f"{clock.now():%Y-%m-%d %H:%M}",
        "content": "one",
        "session_key": "a",
    }
    assert (second.content, second.session_key) == ("", None)
    assert history.entries() == [first, second]


def test_the_next_number_is_above_the_counter_and_above_every_line(history: History, tmp_path: Path) -> None:
    history.append("one")
    counter = tmp_path / ".cursor"
    for text, expected in (("0", 2), ("40", 41), ("junk", 42)):
        counter.write_text(text)
        assert history.append("more").cursor == expected
    with history.path.open("a") as file:
        file.write("{broken\n")
    counter.unlink()
    assert history.latest == 42
    assert history.append("after").cursor == 43


def test_writers_at_the_same_time_never_share_a_number(history: History) -> None:
    threads = [threading.Thread(target=lambda: history.append("x")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(cursors(history.entries())) == list(range(1, 9))


@pytest.mark.parametrize(
    "line", ["[1, 2]", '{"cursor": true}', '{"cursor": -1}', '{"cursor": 5, "content": 1}', "junk"]
)
def test_lines_that_are_no_entry_are_passed_over(history: History, line: str) -> None:
    history.append("one")
    with history.path.open("a") as file:
        file.write(line + "\n")
    assert cursors(history.entries()) == [1]


def test_july_fails_on_a_line_that_is_no_object(tmp_path: Path, clock: Clock) -> None:
    history = History(tmp_path, clock, strict_lines=True)
    history.path.write_text("[1, 2]\n")
    with pytest.raises(AttributeError):
        history.entries()


def test_a_session_is_shown_its_own_entries_and_in_unified_mode_all_but_internal_ones(history: History) -> None:
    for key in ("a", "b", None, "cron:job", "dream:1", "heartbeat"):
        history.append("x", session_key=key)
    assert cursors(history.recent("a")) == [1]
    assert cursors(history.recent("a", unified=True)) == [1, 2, 3]
    assert cursors(history.recent("cron:job", unified=True)) == [1, 2, 3, 4]
    assert cursors(history.recent(None)) == [1, 2, 3, 4, 5, 6]
    history.read_upto = 5
    assert cursors(history.recent(None)) == [6]


def test_the_oldest_entries_are_dropped_and_head_keeps_unread_ones(tmp_path: Path, clock: Clock) -> None:
    for keeps_unread, left in ((False, [4, 5, 6]), (True, [3, 4, 5, 6])):
        history = History(tmp_path / str(keeps_unread), clock, max_entries=3, keeps_unread=keeps_unread)
        for number in range(6):
            history.append(str(number))
        history.read_upto = 2
        history.shorten()
        assert cursors(history.entries()) == left


def test_the_older_form_is_taken_over_once_and_counts_as_read(history: History, tmp_path: Path) -> None:
    old = tmp_path / "HISTORY.md"
    old.write_text(
        "[2026-01-02 10:00] First fact\nwith a second line\n\n[2026-01-04 09:00] [RAW] 2 messages\n"
        "[2026-01-04 08:59] USER: hi\n[2026-01-04 09:00] ASSISTANT: hello\n\nno date\n"
    )
    take_over(tmp_path, history, "now")
    assert [(one.timestamp, one.content.split("\n")[0]) for one in history.entries()] == [
        ("2026-01-02 10:00", "First fact"),
        ("2026-01-04 09:00", "[RAW] 2 messages"),
        ("now", "no date"),
    ]
    assert (history.read_upto, history.unread()) == (3, [])
    assert not old.exists()
    assert (tmp_path / "HISTORY.md.bak").exists()
    old.write_text("again")
    take_over(tmp_path, history, "now")
    assert len(history.entries()) == 3


def test_what_is_stored_is_one_object_a_line(history: History) -> None:
    history.append("Grüße\nzwei Zeilen")
    assert json.loads(history.path.read_text(encoding="utf-8"))["content"] == "Grüße\nzwei Zeilen"
