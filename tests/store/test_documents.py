from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness_nb.store.documents import documents, kind_of, rows, stamp_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MEMORY.md", "memory"),
        ("memory/2026-04-12.md", "daily"),
        ("memory/2026-02-30.md", "topic"),
        ("memory/archive/2026-04-12.md", "archive"),
        ("plots.md", "topic"),
        ("agents/a/sessions/s1.log.jsonl", "session"),
        ("agents/a/sessions/s1.jsonl", None),
        ("large_tool_results/a/c1-0.txt", None),
    ],
)
def test_the_kind_follows_from_the_name(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


def test_hidden_files_and_versions_are_not_searched(tmp_path: Path) -> None:
    for name in ("MEMORY.md", "memory/2026-04-12.md", ".hidden.md", ".locks/a.md", "memory/versions/a.md", "x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a", encoding="utf-8")
    (tmp_path / "folder.md").mkdir()
    assert list(documents(tmp_path)) == ["MEMORY.md", "memory/2026-04-12.md"]
    assert documents(tmp_path / "none") == {}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    folder = (tmp_path / "ws").resolve()
    folder.mkdir()
    (tmp_path / "secret.md").write_text("a", encoding="utf-8")
    (folder / "real.md").write_text("a", encoding="utf-8")
    for name, target in (("out.md", tmp_path / "secret.md"), ("in.md", folder / "real.md"), ("loop", folder)):
        (folder / name).symlink_to(target)
    assert list(documents(folder)) == ["in.md", "real.md"]


def test_r072_only_lf_and_crlf_end_a_line() -> None:
    data = "one\x0ctwo\u2028three\r\n\n \nfour\x85\rfive\n".encode()
    assert list(rows("memory/2026-04-12.md", data)) == [
        (1, "2026-04-12", "one\x0ctwo\u2028three"),
        (4, "2026-04-12", "four\x85\rfive"),
    ]


def record(**message: object) -> bytes:
    return json.dumps({"kind": "message", "time": "2026-04-12T09:30:00+00:00", "message": message}).encode() + b"\n"


def test_a_session_gives_a_row_a_message_with_the_number_of_its_line() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "thinking", "thinking": "no"}, {"type": "text", "text": "two"}]
    data = (
        record(role="user", content="hello\ud83d")
        + b'{"kind": "event", "message": {"content": "no"}}\n{"kind": "mess\n'
        + record(wire={"role": "assistant", "content": parts})
        + record(role="assistant", content=None)
        + b'{"kind": "message", "time": 5, "message": {"content": "undated"}}'
    )
    assert list(rows("s1.log.jsonl", data, first_line=11)) == [
        (11, "2026-04-12", "hello\ufffd"),
        (14, "2026-04-12", "one\ntwo"),
        (16, None, "undated"),
    ]


def test_only_regular_files_have_a_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path) is None and stamp_of(tmp_path / "none") is None
