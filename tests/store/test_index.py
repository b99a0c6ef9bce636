from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_nb.core.clock import Clock
from harness_nb.errors import ConfigError, QueryError, StoreError
from harness_nb.store.daily_log import Fact
from harness_nb.store.index import MemoryIndex
from harness_nb.store.query import parse_query
from harness_nb.store.workspace import Workspace


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@pytest.fixture
def index(workspace: Path) -> Iterator[MemoryIndex]:
    with MemoryIndex(workspace) as index:
        yield index


def lines(index: MemoryIndex, query: str | None) -> list[int]:
    return [hit.line for hit in index.search(query)]


def test_a_folder_is_searched_by_itself(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, notes="# Plan\n\nThe database migration is on Friday.\n")
    (hit,) = index.search("database migration", limit=10)
    assert (hit.path, hit.line, hit.kind, hit.date) == ("notes.md", 3, "topic", None)
    assert hit.content == "The database migration is on Friday."
    assert hit.snippet == "The [database] [migration] is on Friday." and hit.rank < 0
    assert (workspace / "memory_index.db").exists()
    assert index.counts() == {"files": 1, "lines": 2}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="none' is no folder"):
        MemoryIndex(tmp_path / "none")


ODD_TEXTS = ["state-of-the-art", "lab-7", "don't", "3.11.2", "GB/s", "C++", "C:\\data", "user@example.com", "#tag"]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_r064_a_text_with_signs_is_found(workspace: Path, index: MemoryIndex, text: str) -> None:
    put(workspace, a=f"- other\n- we noted {text} here\n")
    hits = index.search(text)
    assert [hit.line for hit in hits] == [2] and hits.stage == "all words"


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from('ab \u0301é实验한글\0"*%_\\🔬'), max_size=20)


@given(before=TEXTS, part=TEXTS, after=TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_r064_any_part_of_a_note_finds_it(tmp_path: Path, before: str, part: str, after: str) -> None:
    put(tmp_path, note=before + part + after)
    with MemoryIndex(tmp_path) as index:
        found = [hit.path for hit in index.search(part, limit=1)]
        assert found == (["note.md"] if parse_query(part).words else [])
        assert not index.warnings


@given(st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_r064_no_text_makes_a_search_fail(tmp_path: Path, query: str) -> None:
    put(tmp_path, note="some text\n")
    with MemoryIndex(tmp_path) as index:
        index.search(query)
        assert not index.warnings


@pytest.mark.parametrize("query", ["", "   ", "\n", "!!!", None])
def test_r065_blank_and_punctuation_only_queries_find_nothing(
    workspace: Path, index: MemoryIndex, query: str | None
) -> None:
    put(workspace, a="text !!! \n")
    assert len(index.search(query)) == 0


def test_r066_a_quoted_phrase_is_found_as_a_phrase(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="alpha beta\nbeta alpha\n")
    assert lines(index, '"alpha beta"') == [1]
    assert sorted(lines(index, "alpha beta")) == [1, 2]


@pytest.mark.parametrize(
    ("note", "queries"),
    [
        ("昨晚整理了实验记录", ["实验", "实验记录", "整理", "录", "昨晚 记录"]),
        ("昨夜、実験ノートを書いた", ["実験", "ノート", "書"]),
        ("어제실험을 기록했다", ["실험", "기록", "어제"]),
        ("更新run-kappa后再拟合", ["kappa", "run-kappa", "拟合"]),
        ("เมื่อวานทดลองแล้ว", ["ทดลอง"]),
    ],
)
def test_r067_r068_words_inside_unspaced_text_are_found(
    workspace: Path, index: MemoryIndex, note: str, queries: list[str]
) -> None:
    put(workspace, a=f"other\n{note}\n")
    for query in queries:
        assert lines(index, query) == [2], query
        assert index.search(query)[0].content == note


@pytest.mark.parametrize("query", ["résumé", "resume", "re\u0301sume\u0301", "caffe", "CAFFÈ"])
def test_r069_accents_in_any_form_or_none_find_the_note(workspace: Path, index: MemoryIndex, query: str) -> None:
    put(workspace, a="re\u0301sume\u0301 and caffe\u0300\n")
    assert lines(index, query) == [1]


def test_any_word_is_tried_after_all_and_parts_of_words_last(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="alpha one\nbeta two\ngammaray\ngammadelta\n")
    assert index.search("alpha one").stage == "all words"
    either = index.search("alpha beta")
    assert (either.stage, sorted(hit.line for hit in either)) == ("any word", [1, 2])
    part = index.search("mmara")
    assert (part.stage, part[0].rank, part[0].snippet) == ("substring", -1.0, "ga[mmara]y")
    assert lines(index, "mma elt") == [4, 3]


def test_r070_rows_of_files_that_are_gone_are_removed(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, memory__2026_a="x", **{f"memory__2026-04-1{n}": f"fact zebra {n}\n" for n in range(3)})
    assert len(index.search("zebra")) == 3
    memory = workspace / "memory"
    (memory / "2026-04-10.md").unlink()
    (memory / "2026-04-11.md").rename(memory / "2026-04-21.md")
    (memory / "archive").mkdir()
    (memory / "2026-04-12.md").rename(memory / "archive" / "2026-04-12.md")
    hits = index.search("zebra")
    assert [(hit.path, hit.kind) for hit in hits] == [
        ("memory/2026-04-21.md", "daily"),
        ("memory/archive/2026-04-12.md", "archive"),
    ]
    assert all((workspace / hit.path).exists() for hit in hits)


def test_a_change_that_keeps_size_and_time_is_seen(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n")
    assert lines(index, "zebra")
    stat = (workspace / "a.md").stat()
    put(workspace, a="horse\n")
    os.utime(workspace / "a.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert lines(index, "horse") and not index.search("zebra")


def test_what_is_appended_is_added_without_touching_the_rest(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="one zebra\n", b="other\n")
    index.refresh()
    before = rows_of(index)
    for text in ("one zebra\n\ntwo zebra\n", "one zebra\n\ntwo zebra\nthree", "one zebra\n\ntwo zebra\nthree zebra\n"):
        put(workspace, a=text)
        index.refresh()
    assert rows_of(index)[: len(before)] != [] and sorted(lines(index, "zebra")) == [1, 3, 4]
    put(workspace, a="new\n")
    assert not index.search("zebra") and index.counts() == {"files": 2, "lines": 2}
    with closing(sqlite3.connect(index.path)) as raw, raw:
        raw.execute("INSERT INTO line_fts (line_fts, rank) VALUES ('integrity-check', 1)")
    raw.close()


def rows_of(index: MemoryIndex) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(index.path)) as raw, raw:
        found = raw.execute("SELECT id, text FROM line ORDER BY id").fetchall()
    raw.close()
    return found


def test_a_refresh_writes_nothing_when_nothing_changed(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n")
    os.utime(workspace / "a.md", (1, 1))
    index.refresh()
    with closing(sqlite3.connect(index.path)) as raw, raw:
        before = raw.execute("PRAGMA data_version").fetchone()
        assert index.refresh() and index.search("zebra")
        assert raw.execute("PRAGMA data_version").fetchone() == before
    raw.close()


def test_one_file_is_updated_and_removed_by_name(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n", b="horse\n")
    assert index.update("a.md") and index.counts()["files"] == 1
    assert index.update(workspace / "b.md") and index.counts()["files"] == 2
    (workspace / "a.md").unlink()
    assert index.update("a.md") and index.counts() == {"files": 1, "lines": 1}
    assert index.update("x.txt") and index.counts()["files"] == 1
    with pytest.raises(StoreError, match="outside"):
        index.update("/elsewhere/a.md")


def test_a_rebuild_makes_the_rows_again(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n")
    index.rebuild()
    index.rebuild()
    assert lines(index, "zebra") == [1] and index.counts() == {"files": 1, "lines": 1}


def test_of_equal_hits_the_newest_come_first_whatever_their_number(workspace: Path, index: MemoryIndex) -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in (3, 4) for day in range(1, 29)]
    put(workspace, a="zebra\n", **{f"memory__{day}": "zebra\n" for day in days})
    hits = index.search("zebra", limit=3)
    assert [hit.date for hit in hits] == [date(2026, 4, 28), date(2026, 4, 27), date(2026, 4, 26)]
    assert len(index.search("zebra", limit=500)) == 57
    assert index.search("ebr", limit=1)[0].date == date(2026, 4, 28)


def test_messages_of_sessions_are_found(workspace: Path, clock: Clock) -> None:
    space = Workspace(workspace, clock=clock)
    text = {"wire": {"role": "user", "content": "my zebra\nand more " + "word " * 100}}
    space.session("a", "s1").append(
        [{"kind": "event"}, {"kind": "message", "index": 0, "time": "2026-04-12T09:30:00+00:00", "message": text}]
    )
    with MemoryIndex.of(space) as index:
        (hit,) = index.search("zebra")
    assert (hit.path, hit.line, hit.kind) == ("agents/a/sessions/s1.log.jsonl", 2, "session")
    assert (hit.date, hit.content) == (date(2026, 4, 12), text["wire"]["content"])
    assert len(hit.snippet) < 220


def test_workspaces_side_by_side_share_a_file_and_see_their_own(tmp_path: Path) -> None:
    first, second = (Workspace(tmp_path / name) for name in ("one", "two"))
    first.curated.replace("zebra one\n")
    second.curated.replace("zebra two\n")
    with MemoryIndex.of(first) as index, MemoryIndex.of(second) as other, MemoryIndex(tmp_path) as all_of_them:
        assert index.path == other.path == all_of_them.path == tmp_path.resolve() / "memory_index.db"
        assert [hit.content for hit in index.search("zebra")] == ["zebra one"]
        assert [hit.content for hit in other.search("zebra")] == ["zebra two"]
        assert [hit.path for hit in all_of_them.search("zebra")] == ["one/MEMORY.md", "two/MEMORY.md"]
        index.rebuild()
        assert len(other.search("zebra")) == 1


def test_r072_hits_count_lines_by_lf_and_crlf_only(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="one\x0c\r\ntwo\u2028\nthree\n\x1czebra\r\n")
    assert lines(index, "zebra") == [4]


def test_r079_lone_surrogates_pass_through_index_and_search(workspace: Path, clock: Clock) -> None:
    space = Workspace(workspace, clock=clock)
    space.daily_log.append([Fact("a\ud83db zebra")])
    space.session("a", "s").append([{"kind": "message", "message": {"content": "lens \ud83d zebra"}}])
    with MemoryIndex.of(space) as index:
        assert len(index.search("zebra")) == 2
        assert len(index.search("\ud83d")) == 2 and not index.warnings


def test_an_expression_in_fts_syntax_is_asked_for_by_name(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="alpha\nbeta\nalphabet\n")
    hits = index.search_fts("alpha* NOT alpha")
    assert [hit.line for hit in hits] == [3] and hits.stage == "expression"
    for wrong in ("alpha AND", '"', "nocolumn: x", ""):
        with pytest.raises(QueryError, match="is no FTS5 query"):
            index.search_fts(wrong)
    assert not index.warnings


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3"])
def test_a_limit_that_is_no_number_of_hits_is_refused(index: MemoryIndex, limit: int) -> None:
    with pytest.raises(ConfigError, match="limit="):
        index.search("a", limit=limit)


def damage_with(statement: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        raw = sqlite3.connect(path)
        raw.execute(statement)
        raw.commit()
        raw.close()

    return damage


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def add_foreign_log(path: Path) -> None:
    other = sqlite3.connect(path.with_name("other.db"))
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE t (x)")
    other.execute("INSERT INTO t VALUES (randomblob(100000))")
    other.commit()
    shutil.copy(path.with_name("other.db-wal"), path.with_name(path.name + "-wal"))
    other.close()


TABLES = [
    "line_fts_data",
    "line_fts_idx",
    "line_fts_docsize",
    "line_fts_config",
    "line",
    "doc",
    "span",
    "stale",
    "workspace",
]
DAMAGES: dict[str, Callable[[Path], None]] = {
    "random bytes": lambda path: path.write_bytes(bytes(range(1, 256)) * 20) and None,
    "truncated": truncate,
    "log of another database": add_foreign_log,
    "another schema": damage_with("PRAGMA user_version = 99"),
    "no table": damage_with("DROP TABLE line_fts"),
    **{f"{table} emptied": damage_with(f"DELETE FROM {table}") for table in TABLES},  # noqa: S608
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_r071_a_damaged_index_is_set_aside_and_made_again(workspace: Path, damage: str) -> None:
    put(workspace, **{f"n{n}": "".join(f"note {n} line{k}\n" for k in range(50)) for n in range(20)})
    with MemoryIndex(workspace) as index:
        index.refresh()
    DAMAGES[damage](index.path)
    with MemoryIndex(workspace) as index:
        hits = index.search("line7 3")
        assert [(hit.path, hit.line) for hit in hits if hit.stage == "all words"] == [("n3.md", 8)]
        assert len(index.warnings) == 1 and "made again" in index.warnings[0]
    assert (workspace / "memory_index.db.set-aside").exists()


def test_an_index_deleted_while_it_is_open_is_made_again(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n")
    assert lines(index, "zebra")
    for path in workspace.glob("memory_index.db*"):
        path.unlink()
    assert lines(index, "zebra") == [1]


def test_r074_an_index_is_used_from_several_threads(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra\n")
    index.refresh()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                put(workspace, **{f"t{number}": f"zebra horse{number}\n"})
                assert index.update(f"t{number}.md")
                assert len(index.search("zebra")) >= 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and not index.warnings
    assert len(index.search("zebra")) == 5


HOLD = """
import sqlite3, sys
raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
raw.execute("ROLLBACK")
"""


def test_r073_r075_a_busy_index_fails_neither_a_search_nor_an_update(workspace: Path, index: MemoryIndex) -> None:
    put(workspace, a="zebra old\n", gone="zebra gone\n")
    index.refresh()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(index.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        put(workspace, a="zebra old\nzebra new\n")
        (workspace / "gone.md").unlink()
        began = time.monotonic()
        assert index.update("a.md", wait_seconds=0.1) is False
        assert [hit.content for hit in index.search("zebra")] == ["zebra old"]
        assert time.monotonic() - began < 3
        other.communicate("\n")
    assert sorted(lines(index, "zebra")) == [1, 2]


SEARCH = """
import json, sys
from harness_nb.store.index import MemoryIndex
with MemoryIndex(sys.argv[1]) as index:
    print(json.dumps([len(index.search("zebra", limit=100)), index.warnings]))
"""


def test_processes_that_make_the_index_at_the_same_time_all_find_everything(workspace: Path) -> None:
    put(workspace, **{f"n{n}": "zebra\n" for n in range(50)})
    started = [
        subprocess.Popen([sys.executable, "-c", SEARCH, str(workspace)], stdout=subprocess.PIPE, encoding="utf-8")
        for _ in range(3)
    ]
    outputs = [process.communicate()[0] for process in started]
    with MemoryIndex(workspace) as index:
        assert len(index.search("zebra", limit=100)) == 50
    assert all(json.loads(output)[1] == [] for output in outputs)


def test_a_read_only_index_still_answers(workspace: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    put(workspace, a="zebra\n")
    index.refresh()
    put(workspace, a="zebra\nhorse\n")
    index._database.connection().execute("PRAGMA query_only = ON")
    assert lines(index, "zebra") == [1]
    assert "did not take in" in index.warnings[0]


def test_a_search_of_a_workspace_that_does_not_exist_yet_finds_nothing(tmp_path: Path) -> None:
    with MemoryIndex.of(Workspace(tmp_path / "p" / "ws")) as index:
        assert len(index.search("zebra")) == 0
        assert repr(index) == f"MemoryIndex({str(tmp_path.resolve() / 'p' / 'ws')!r})"


def test_a_file_that_can_not_be_read_is_left_out_with_a_warning(
    workspace: Path, index: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, a="zebra\n", b="zebra\n")
    whole = Path.read_bytes

    def read(path: Path) -> bytes:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert [hit.path for hit in index.search("zebra")] == ["b.md"]
    assert "a.md" in index.warnings[0] and "left out" in index.warnings[0]
