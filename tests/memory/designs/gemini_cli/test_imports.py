from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness_nb.memory.designs.gemini_cli.imports import DEEPEST, Imports
from harness_nb.store.files import read_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def shown(root: Path, form: str = "tree", **files: str) -> str:
    """The text of GEMINI.md with what it names; `__` in a name stands for a slash."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Imports(root, read_text).shown(root / "GEMINI.md", form)  # type: ignore[arg-type]


def test_a_named_file_stands_in_the_place_of_its_name(root: Path) -> None:
    text = shown(root, GEMINI="before @./docs/a.md after", docs__a="rules of @b.md", docs__b="b itself")
    assert text.startswith("before <!-- from ./docs/a.md -->\nrules of <!-- from b.md -->\nb itself")
    assert text.endswith("after")


def test_a_circle_is_marked_and_not_followed(root: Path) -> None:
    text = shown(root, GEMINI="@a.md", a="@GEMINI.md and @a.md")
    assert text.count("is above already") == 2


def test_files_lie_in_files_up_to_a_depth(root: Path) -> None:
    files = {f"f{at}": f"level {at} @f{at + 1}.md" for at in range(1, DEEPEST + 3)}
    text = shown(root, GEMINI="@f1.md", **files)
    assert f"level {DEEPEST}" in text and f"level {DEEPEST + 1}" not in text and "lies too deep" in text


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../secret.md", "outside"), ("/etc/passwd", "outside"), ("https://a.b/c.md", "is no file"),
        ("missing.md", "no such file"), ("link.md", "outside"),
    ],
)  # fmt: skip
def test_what_can_not_be_shown_leaves_a_comment_in_its_place(root: Path, name: str, why: str) -> None:
    inside = root / "project"
    inside.mkdir()
    (root / "secret.md").write_text("secret", encoding="utf-8")
    (inside / "link.md").symlink_to(root / "secret.md")
    text = shown(inside, GEMINI=f"see @{name} now")
    assert text.startswith(f"see <!-- {name}: ") and why in text and text.endswith(" now") and "secret\n" not in text


@pytest.mark.parametrize(
    "text", ["mail me@a.md", "`@a.md`", "```\n@a.md\n```", "@1.md", "~~~x\n@a.md\n~~~", "``@a.md ` ``"]
)
def test_names_inside_words_and_code_are_text(root: Path, text: str) -> None:
    assert shown(root, GEMINI=text, a="inserted") == text


def test_flat_all_files_follow_one_another_each_once(root: Path) -> None:
    text = shown(root, "flat", GEMINI="one @a.md two @b.md", a="@b.md @GEMINI.md", b="b itself")
    parts = [f"--- {root / name} ---" for name in ("GEMINI.md", "a.md", "b.md")]
    assert [text.count(part) for part in parts] == [1, 1, 1]
    assert sorted(parts, key=text.index) == parts and "one @a.md two @b.md" in text


def test_a_file_that_is_not_there_shows_nothing(root: Path) -> None:
    assert shown(root) == ""
