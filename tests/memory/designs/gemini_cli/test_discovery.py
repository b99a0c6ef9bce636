from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_nb.memory.designs.gemini_cli.discovery import boundary, project_files, touched_files

NAMES = ("AGENTS.md", "GEMINI.md")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a context file at its root, in a package and deep in it."""
    root = Path(os.path.realpath(tmp_path)) / "repository"
    for folder in ("", "packages", "packages/app", "packages/app/src"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / ".git").mkdir()
    for folder in ("", "packages/app", "packages/app/src"):
        (root / folder / "GEMINI.md").write_text(folder, encoding="utf-8")
    return root


def names(found: list[Path], root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in found]


def test_files_are_looked_for_upward_to_the_marker_and_come_from_the_root_down(repository: Path) -> None:
    (repository.parent / "GEMINI.md").write_text("beyond", encoding="utf-8")
    found = project_files(repository / "packages/app", NAMES, (".git",))
    assert names(found, repository) == ["GEMINI.md", "packages/app/GEMINI.md"]


def test_a_marker_may_be_a_file_and_none_of_them_keeps_to_the_project(repository: Path) -> None:
    (repository / "packages/.root").write_text("", encoding="utf-8")
    app = repository / "packages/app"
    assert boundary(app, (".root", ".git")) == repository / "packages"
    assert boundary(app, ()) == boundary(app, ("missing",)) == app


@pytest.mark.parametrize("marker", ["/", "../.git", "a/../.git"])
def test_markers_that_lead_elsewhere_do_not_count(repository: Path, marker: str) -> None:
    assert boundary(repository / "packages", (marker,)) == repository / "packages"


def test_a_file_is_shown_once_whatever_its_names_and_a_folder_never(repository: Path) -> None:
    os.link(repository / "GEMINI.md", repository / "AGENTS.md")
    (repository / "packages/GEMINI.md").mkdir()
    found = project_files(repository / "packages", NAMES, (".git",))
    assert names(found, repository) == ["AGENTS.md"]


def test_a_touched_file_brings_along_what_stands_above_it(repository: Path) -> None:
    for target in ("packages/app/src/main.py", "packages/app/src"):
        found = touched_files(repository / target, [repository], NAMES, (".git",))
        assert names(found, repository) == ["GEMINI.md", "packages/app/GEMINI.md", "packages/app/src/GEMINI.md"]


def test_the_deepest_trusted_folder_counts_and_outside_of_all_nothing(repository: Path) -> None:
    roots = [repository, repository / "packages/app"]
    found = touched_files(repository / "packages/app/src/new.py", roots, NAMES, ())
    assert names(found, repository) == ["packages/app/GEMINI.md", "packages/app/src/GEMINI.md"]
    assert touched_files(repository.parent / "other.py", roots, NAMES, ()) == []
