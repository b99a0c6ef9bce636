from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import StoreError
from harness_nb.memory.designs.hermes.query import cleaned, every_word, read_query
from harness_nb.memory.designs.hermes.rows import SessionRows
from harness_nb.memory.designs.hermes.session_search import Searched, SessionSearch
from harness_nb.memory.designs.hermes.syncing import stored

TALK = [
    ("s1", Message.user("How do I deploy the docker image?")),
    ("s1", Message.assistant("Running.", [ToolCall("c1", "terminal", '{"command": "make zebra"}')])),
    ("s1", Message.tool("c1", "container started")),
    ("s1", Message.assistant("The deployment works.")),
    ("s2", Message.user("大别山项目的进度怎么样？")),
    ("s2", Message.assistant("docker 镜像 is tested.")),
    ("s3", Message.user("nightly docker report")),
    ("s4", Message.user("docker, docker and docker again")),
]


@pytest.fixture
def rows(tmp_path: Path) -> SessionRows:
    made = SessionRows(tmp_path / "sessions.db")
    sources = {"s1": "cli", "s2": "cli", "s3": "cron", "s4": "cli"}
    for number, (id, source) in enumerate(sources.items()):
        made.add_session(id, source=source, title="Docker deploy" if id == "s1" else None, started=float(number))
    named: dict[str, str] = {}
    for index, (session, message) in enumerate(TALK):
        made.add(session, [stored(index, message, named)])
    return made


def sessions(found: Searched) -> list[str]:
    return [one.session.id for one in found.found]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docker deploy", "docker deploy"), ("docker-compose", '"docker-compose"'), ("max_tokens", '"max_tokens"'),
        ('"quick brown" fox', '"quick brown" fox'), ('"quick brown', "quick brown"), ("kube**", "kube*"), ("**", ""),
        ("+docker -x", "docker -x"), ("docker AND", "docker"), ("NOT docker", "docker"), ("a or b", "a or b"),
        ("NEAR(a b)", "NEAR a b"), ("what?", "what?"), ("", ""),
    ],
)  # fmt: skip
def test_a_query_is_cleaned_of_what_is_known_to_break_it(query: str, expected: str) -> None:
    assert cleaned(query) == expected


@pytest.mark.parametrize(
    ("query", "way"),
    [("docker", "fts"), ("大别山", "trigram"), ("大别", "like"), ("大别山 进度", "like"), ("大别山项目 ok", "trigram"), ("*", "none")],
)  # fmt: skip
def test_the_script_decides_how_it_is_searched(query: str, way: str) -> None:
    assert read_query(query).way == way


def test_punctuation_finds_nothing_as_shipped_and_its_words_live(rows: SessionRows) -> None:
    with pytest.raises(sqlite3.OperationalError):
        rows.search(read_query("docker?"))
    assert SessionSearch(rows=rows, asks_again=False).discover("docker?").found == ()
    live = SessionSearch(rows=rows).discover("docker?")
    assert live.found and "words" in live.note
    assert every_word("what's up?") == '"what" "s" "up"'


def test_each_session_is_found_once_and_those_of_a_timer_last(rows: SessionRows) -> None:
    found = SessionSearch(rows=rows).discover("docker", limit=10)
    assert sorted(sessions(found)) == ["s1", "s2", "s3", "s4"]
    assert sessions(found)[-1] == "s3"
    assert len(SessionSearch(rows=rows).discover("docker").found) == 3


def test_a_title_that_is_the_query_comes_first_in_its_exact_case(rows: SessionRows) -> None:
    assert SessionSearch(rows=rows).discover("Docker deploy").found[0].by == "title"
    assert SessionSearch(rows=rows).discover("docker deploy").found[0].by == "message"


def test_order_roles_and_limits_can_be_asked_for(rows: SessionRows) -> None:
    search = SessionSearch(rows=rows)
    assert sessions(search.discover("docker", sort="oldest"))[0] == "s1"
    assert sessions(search.discover("docker", sort="newest", limit=1)) == ["s4"]
    assert search.discover("container").found == ()
    assert sessions(search.discover("container", roles=("tool",))) == ["s1"]
    assert sessions(search.discover("docker", limit=0)) == sessions(search.discover("docker", limit=1))


def test_the_running_session_is_found_only_where_that_is_set(rows: SessionRows) -> None:
    search = SessionSearch(rows=rows, current="s4")
    assert "s4" not in sessions(search.discover("docker", limit=10))
    assert search.scroll("s4", 8).error == "current_session"
    assert "s4" in sessions(SessionSearch(rows=rows, current="s4", finds_current=True).discover("docker", limit=10))


def test_messages_around_one_and_the_ends_of_a_session_can_be_read(rows: SessionRows) -> None:
    search = SessionSearch(rows=rows)
    around = search.scroll("s1", 2, window=1)
    assert [row.at for row in around.rows] == [0, 1, 2]
    assert (around.before, around.after) == (1, 1)
    assert search.scroll("s1", 999).error == "not_found"
    assert [row.at for row in search.read("s1").rows] == [0, 1, 2, 3]
    assert search.read("s9").error == "not_found"


def test_a_long_session_is_read_at_both_ends(rows: SessionRows) -> None:
    rows.add_session("long")
    rows.add("long", [(at, "user", f"word{at}", "", "") for at in range(100)])
    found = SessionSearch(rows=rows).read("long")
    assert [row.at for row in found.rows] == [*range(20), *range(90, 100)]
    assert found.total == 100
    place = SessionSearch(rows=rows).discover("word50").found[0]
    assert [row.at for row in place.opening] == [0, 1, 2]
    assert [row.at for row in place.window] == list(range(45, 56))
    assert [row.at for row in place.closing] == [97, 98, 99]


def test_what_a_compaction_took_out_is_found_and_not_read(rows: SessionRows) -> None:
    rows.archive("s1", (3,), [("assistant", "A summary stands here.")])
    search = SessionSearch(rows=rows)
    assert sessions(search.discover("deploy image")) == ["s1"]
    assert [row.at for row in search.read("s1").rows] == [3, None]


def test_rewound_messages_are_hidden_but_for_short_words_of_cjk(rows: SessionRows) -> None:
    rows.rewind("s2", 4)
    assert rows.search(read_query("大别山项目")) == []
    assert [row.at for row in rows.search(read_query("进度"))] == [4]


def test_the_latest_sessions_are_listed_without_those_of_tools(rows: SessionRows) -> None:
    rows.add_session("s5", source="subagent", started=9.0)
    assert [one.id for one in SessionSearch(rows=rows).browse(2).sessions] == ["s4", "s3"]


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"no database" * 200)
    with pytest.raises(StoreError, match="made again"):
        SessionRows(tmp_path / "bad.db").sessions()
