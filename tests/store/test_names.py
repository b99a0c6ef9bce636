from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.errors import StoreError
from harness_nb.store.names import LONGEST, confined, name_key, safe_name


@pytest.mark.parametrize("name", ["MyAgent", "gpt-4.1", "2026-04-12_a", "数据", "Zoë"])
def test_a_usable_name_stays(name: str) -> None:
    assert safe_name(name) == name


@given(st.text(max_size=120))
def test_every_text_makes_a_name_of_one_part_and_making_it_again_changes_nothing(text: str) -> None:
    name = safe_name(text)
    assert name and "/" not in name and "\\" not in name and "\0" not in name and ".." not in name
    assert not name.startswith(".") and len(name.encode("utf-8")) <= LONGEST
    assert safe_name(name) == name


@given(st.text(max_size=8), st.text(max_size=8))
def test_different_texts_make_different_names(first: str, second: str) -> None:
    assert (safe_name(first) == safe_name(second)) == (first == second)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "con", "NUL.txt", "x.log", "a" * 300, "a\0b", "C:"])
def test_a_name_that_may_not_stay_gets_a_hash(name: str) -> None:
    assert safe_name(name) != name


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/hosts",
        "notes/../../x",
        "..",
        "a/..",
        "C:\\x",
        "..\\x",
        "",
        ".",
        "./",
        "c:/x",
        "a\0b",
        "~/x",
        "a\\b",
    ],
)
def test_r082_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="is no name inside"):
        confined(tmp_path.resolve(), name)


@pytest.mark.parametrize("name", ["notes.md", "memory/2026-04-12.md", "a..b.md", "./a.md", "a//b.md"])
def test_a_name_inside_the_folder_is_accepted(tmp_path: Path, name: str) -> None:
    assert confined(tmp_path.resolve(), name).is_relative_to(tmp_path.resolve())


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_r082_a_link_that_leads_out_is_refused_and_one_inside_is_followed(tmp_path: Path) -> None:
    folder = (tmp_path / "ws").resolve()
    (folder / "real").mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    (folder / "in").symlink_to(folder / "real")
    assert confined(folder, "in/a.md") == folder / "real" / "a.md"
    with pytest.raises(StoreError):
        confined(folder, "out/a.md")


def test_r083_names_that_differ_in_case_or_form_of_accents_are_one(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "MEMORY.md").touch()
    (folder / "Zoe\u0308.md").touch()
    assert confined(folder, "memory.MD") == folder / "MEMORY.md"
    assert confined(folder, "zo\u00eb.md") == folder / "Zoe\u0308.md"
    assert name_key("Plots") == name_key("plots")


def test_a_name_as_it_stands_goes_before_one_like_it(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name in ("Plots.md", "plots.md"):
        (folder / name).touch()
    assert confined(folder, "plots.md") == folder / "plots.md"
