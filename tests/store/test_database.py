from __future__ import annotations

import gc
import sqlite3
import stat
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from harness_nb.errors import StoreError
from harness_nb.store import database
from harness_nb.store.database import Database, IndexBusy, IndexDamaged


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_r100_the_file_and_its_companions_are_made_for_their_owner_only(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    with base.atomic(1) as connection:
        connection.execute("INSERT INTO workspace (name) VALUES ('a')")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("i.db*")}
    assert modes == dict.fromkeys(["i.db", "i.db-wal", "i.db-shm"], 0o600)
    base.close()


def test_what_fails_in_a_transaction_leaves_nothing(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    with pytest.raises(ZeroDivisionError), base.atomic(1) as connection:
        connection.execute("INSERT INTO workspace (name) VALUES ('a')")
        raise ZeroDivisionError
    assert base.connection().execute("SELECT count(*) FROM workspace").fetchone() == (0,)
    base.close()


def test_a_second_writer_waits_for_a_bounded_time(tmp_path: Path) -> None:
    first, second = Database(tmp_path / "i.db"), Database(tmp_path / "i.db")
    with first.atomic(1), pytest.raises(IndexBusy), second.atomic(0.05):
        pass
    with second.atomic(0.05):
        pass
    first.close()
    second.close()


def test_connections_of_threads_that_ended_are_closed(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    base.connection()
    for _ in range(5):
        thread = threading.Thread(target=base.connection)
        thread.start()
        thread.join()
    gc.collect()
    assert len(base._open) == 1
    base.close()


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    base.close()
    with pytest.raises(StoreError, match="is closed"):
        base.connection()


def test_a_released_index_is_opened_again_by_the_next_use(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    held = base.connection()
    base.release()
    with pytest.raises(sqlite3.ProgrammingError):
        held.execute("SELECT 1")
    assert base.connection().execute("SELECT count(*) FROM line").fetchone() == (0,)
    base.close()


def test_a_database_of_something_else_is_no_index(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "i.db")) as other, other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    base = Database(tmp_path / "i.db")
    with pytest.raises(IndexDamaged):
        base.connection()
    assert base.set_aside().name == "i.db.set-aside"
    base.connection()
    base.close()


def test_setting_aside_what_is_gone_does_nothing(tmp_path: Path) -> None:
    base = Database(tmp_path / "i.db")
    base.set_aside()
    assert not (tmp_path / "i.db.set-aside").exists()


def test_an_sqlite_without_fts5_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_SCHEMA", database._SCHEMA.replace("USING fts5", "USING fts99"))
    with pytest.raises(StoreError, match="no FTS5"):
        Database(tmp_path / "i.db").connection()


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=r"i\.db"):
        Database(tmp_path / "file" / "i.db").connection()
