from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.errors import StoreError
from harness_nb.store.daily_log import Fact
from harness_nb.store.workspace import Workspace

KEY = "ghp_" + "a1B2c3D4e5" * 4


def test_nothing_is_made_before_the_first_write(tmp_path: Path) -> None:
    space = Workspace(tmp_path / "p" / "ws")
    assert space.read("MEMORY.md") is None and space.curated.read() == "" and space.sessions() == []
    assert space.daily_log.days() == []
    assert not space.path.parent.exists()


def test_the_default_lies_in_the_working_directory() -> None:
    assert Workspace().path == Path.cwd().resolve() / ".harness_nb" / "workspace"
    assert repr(Workspace()) == "Workspace('.harness_nb/workspace')"


def test_r047_a_fact_makes_what_is_missing(tmp_path: Path, clock: Clock) -> None:
    space = Workspace(tmp_path / "ws", clock=clock)
    space.daily_log.append([Fact("a")])
    assert (space.memory_folder / "2026-04-12.md").exists()
    space.memory_folder.joinpath("2026-04-12.md").unlink()
    space.daily_log.append([Fact("a")])
    assert len(space.daily_log.entries()) == 1


def test_a_workspace_that_is_a_file_gives_one_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("", encoding="utf-8")
    with pytest.raises(StoreError) as raised:
        Workspace(tmp_path / "ws").ensure()
    assert str(tmp_path / "ws") in raised.value.problem and raised.value.remedy


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_workspace_that_can_not_be_written_gives_one_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir(mode=0o500)
    with pytest.raises(StoreError, match="ws"):
        Workspace(tmp_path / "ws").ensure()


@pytest.mark.parametrize("path", ["", "  "])
def test_a_blank_path_is_refused(path: str) -> None:
    with pytest.raises(StoreError, match="is no path"):
        Workspace(path)


def test_the_index_lies_beside_the_workspace(tmp_path: Path) -> None:
    assert Workspace(tmp_path / "ws").index_path == tmp_path.resolve() / "memory_index.db"


def test_the_index_lies_inside_where_the_folder_above_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Workspace(tmp_path / "ws")
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != space.path.parent)
    assert space.index_path == space.path / "memory_index.db"


def test_r099_nothing_is_written_with_a_key_in_it(workspace: Path, clock: Clock) -> None:
    space = Workspace(workspace, clock=clock, known_keys=lambda: ["correct-horse"])
    text = f"the key is {KEY}, or correct-horse"
    space.daily_log.append([Fact(text)])
    space.curated.replace(text)
    space.evict("a", "c1", text)
    space.write("notes.md", text)
    space.session("a", "s1").append([{"kind": "message", "message": {"content": text}}])
    space.session("a", "s1").save_view({"items": [{"text": text}]})
    written = [path.read_text(encoding="utf-8") for path in workspace.rglob("*") if path.is_file() and path.suffix]
    assert len([text for text in written if "[redacted: GitHub token]" in text]) == 6
    assert not any(KEY in text or "correct-horse" in text for text in written)


def test_r100_all_files_are_made_for_their_owner_only(workspace: Path, clock: Clock) -> None:
    if sys.platform == "win32":
        pytest.skip("permissions of POSIX")
    before = os.umask(0o022)
    try:
        space = Workspace(workspace, clock=clock)
        space.daily_log.append([Fact("a")])
        space.curated.replace("a")
        space.evict("a", "c1", "a")
        space.session("a", "s1").append([{"a": 1}])
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in workspace.rglob("*")}
    assert set(modes.values()) == {0o600, 0o700}


def test_the_same_text_of_a_call_goes_to_the_same_file_and_another_to_another(workspace: Path) -> None:
    space = Workspace(workspace)
    first = space.evict("My Agent", "call/1", "text\r\n")
    assert space.read(first) == "text\r\n"
    assert first.startswith("large_tool_results/My_Agent-") and "/call_1-" in first
    assert space.evict("My Agent", "call/1", "text\r\n") == first
    second = space.evict("My Agent", "call/1", "other")
    assert second != first and space.read(first) == "text\r\n"


def test_r082_a_folder_for_evicted_results_stays_inside(workspace: Path) -> None:
    with pytest.raises(StoreError):
        Workspace(workspace).evict("a", "c1", "text", folder="../elsewhere")


def test_r079_lone_surrogates_pass_through_eviction(workspace: Path) -> None:
    space = Workspace(workspace)
    assert space.read(space.evict("a", "c1", "a\ud83db")) == "a\ufffdb"


def test_sessions_are_listed_by_agent_and_by_name(workspace: Path) -> None:
    space = Workspace(workspace)
    for agent, session in (("b", "s1"), ("a", "s2"), ("a", "s1")):
        space.session(agent, session).append([{"n": 1}])
    space.session("a", "s3").save_view({"items": []})
    assert [(s.agent, s.session_id) for s in space.sessions()] == [("a", "s1"), ("a", "s2"), ("a", "s3"), ("b", "s1")]
    assert [s.session_id for s in space.sessions("a")] == ["s1", "s2", "s3"]
    assert space.sessions("c") == []
