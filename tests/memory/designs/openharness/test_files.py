"""OpenHarness' topic files: index, fields, adding and removing, and which are picked."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_nb.errors import StoreError
from harness_nb.memory.designs.namespaces import namespace
from harness_nb.memory.designs.openharness.index import shown_index
from harness_nb.memory.designs.openharness.notes import Notes, slug
from harness_nb.memory.designs.openharness.schema import parsed, rendered, signature
from harness_nb.memory.designs.openharness.selection import selected, tokens
from harness_nb.memory.designs.openharness.usage import Usage

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def notes(folder: Path, *, schema: bool = True) -> Notes:
    return Notes(folder / "memory", lambda: NOW, schema=schema)


def test_a_folder_is_named_after_the_directory_and_that_of_the_root_has_no_name() -> None:
    assert namespace("/home/user/proj", unnamed="") == "proj-ac025815c4bf"
    assert namespace("/", unnamed="") == "-42099b4af021"


def test_the_index_is_cut_at_lines_and_then_at_bytes_and_says_so() -> None:
    by_lines = shown_index("line\n" * 201, max_lines=200, max_bytes=25_000)
    assert (
        by_lines.truncated is not None and by_lines.truncated.unit == "lines" and len(by_lines.truncated.warning) == 135
    )
    by_bytes = shown_index("é" * 20, max_lines=5, max_bytes=11)
    assert by_bytes.text == "é" * 5 and by_bytes.truncated is not None and by_bytes.truncated.found == 40
    assert shown_index(" \n", max_lines=5, max_bytes=9).state == "blank"
    assert shown_index(None, max_lines=5, max_bytes=9).state == "missing"


def test_the_same_words_refresh_a_note_and_the_same_title_makes_another(tmp_path: Path) -> None:
    kept = notes(tmp_path)
    assert kept.add("Build", "Use make.") == "build.md"
    assert kept.add("Other", "  use   MAKE ") == "build.md"
    assert kept.add("Build", "Use ninja.") == "build_2.md"
    assert kept.index_text == "# Memory Index\n- [Build](build.md)\n- [Build](build_2.md)\n"


def test_a_removed_note_stays_on_disk_and_comes_back_with_the_same_words(tmp_path: Path) -> None:
    kept = notes(tmp_path)
    kept.add("Build", "Use make.")
    assert kept.remove("build") and kept.listed() == [] and not kept.remove("build")
    assert (kept.folder / "build.md").exists()
    assert kept.add("Build", "Use make.") == "build.md" and kept.listed() == ["build.md"]


def test_without_the_schema_a_note_is_plain_and_deleted_for_good(tmp_path: Path) -> None:
    kept = notes(tmp_path, schema=False)
    kept.add("Build", "Use make.")
    assert (kept.folder / "build.md").read_text() == "Use make.\n" and kept.listed() == ["MEMORY.md", "build.md"]
    assert kept.remove("build.md") and not (kept.folder / "build.md").exists()


def test_as_recorded_a_name_inside_another_gets_no_pointer_and_takes_the_others_away(tmp_path: Path) -> None:
    kept = notes(tmp_path)
    kept.add("Rebuild", "One.")
    kept.add("Build", "Two.")
    assert kept.index_text == "# Memory Index\n- [Rebuild](rebuild.md)\n"
    kept.remove("build")
    assert kept.index_text == "# Memory Index\n"


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    kept = notes(tmp_path, schema=False)
    kept.add("A", "a")
    (kept.folder / "build.md").symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(StoreError, match="is a link"):
        kept.add("Build", "b")
    assert not (tmp_path / "elsewhere.md").exists()


def test_a_name_too_long_for_the_disk_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Notes(tmp_path / ("n" * 300), lambda: NOW).add("A", "a")


def test_fields_are_read_as_far_as_they_are_whole() -> None:
    assert parsed("a.md", '---\nname: "A: b"\ntags: [x]\ndisabled: true\n---\n\nbody\n').fields["name"] == "A: b"
    assert parsed("a.md", "---\nname: open\nbody").body == "name: open\nbody"
    assert parsed("a.md", "---\nname: [broken\n---\nbody").fields == {}
    assert parsed("a.md", "---\ntags:\n  - x\n  - y\n---\nb").fields["tags"] == ["x", "y"]
    assert parsed("a.md", rendered({"ttl_days": None, "name": "n"}, "b")).fields == {"ttl_days": None, "name": "n"}


def test_a_note_without_description_is_described_by_its_first_line() -> None:
    note = parsed("db.md", "# Database\n\nPostgres runs here.\nPort 5433.\n")
    assert (note.name, note.description, note.preview) == ("db", "Postgres runs here.", "Port 5433.")


def test_a_note_expires_after_its_days(tmp_path: Path) -> None:
    kept = notes(tmp_path)
    kept.add("Build", "Use make.")
    path = kept.folder / "build.md"
    path.write_text(path.read_text().replace("ttl_days: null", "ttl_days: 2"))
    assert kept.live(NOW + timedelta(days=1)) and not kept.live(NOW + timedelta(days=2))


def test_the_signature_heeds_words_only() -> None:
    assert signature("Use make.", "project", "knowledge") == signature(" use\nMAKE!", "project", "knowledge")
    assert slug("  Ünïcode & more!  ") == "ünïcode_more" and slug("!!") == "memory"


def test_notes_are_picked_by_words_inside_words_too_and_by_bonus(tmp_path: Path) -> None:
    kept = notes(tmp_path)
    kept.add("Parser", "x")
    kept.add("Weather", "y")
    usage = Usage(kept.folder)
    picked = selected(kept.live(NOW), "the", most=5, now=NOW)
    assert [note.file for note in picked] == ["weather.md"]
    usage.used(picked, NOW)
    usage.used(picked, NOW)
    assert usage.counts() == {picked[0].id: 2}
    assert tokens("is it 部署 ok_9") == {"部", "署", "ok_9"}


def test_of_equals_the_one_that_was_changed_last_comes_first(tmp_path: Path) -> None:
    kept = notes(tmp_path, schema=False)
    for at in range(3):
        kept.add(f"n{at}", f"topic parser {at}")
        os.utime(kept.folder / f"n{at}.md", (1_000 + at, 1_000 + at))
    assert [one.file for one in selected(kept.live(), "parser", most=2, now=NOW, bonus=False)] == ["n2.md", "n1.md"]


def test_a_broken_usage_file_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "usage_index.json").write_text("{")
    assert Usage(tmp_path).counts() == {}
