from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.errors import StoreError
from harness_nb.memory.designs.gemini_cli.patches import made_patch, read_patches

TEXTS = st.lists(st.sampled_from(["a", "b", "- c", "", "+x", "--- d", "@@", "\\ e"]), max_size=14)


@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_a_change_that_was_made_can_be_read_and_applied(
    old: list[str], new: list[str], old_ends: bool, new_ends: bool
) -> None:
    before = "\n".join(old) + "\n" * old_ends
    after = "\n".join(new) + "\n" * new_ends
    patch = made_patch("MEMORY.md", before, after)
    if before == after:
        assert patch == ""
        return
    (read,) = read_patches(patch)
    assert read.applied(before) == after and read.source == patch


def test_a_new_file_is_made_of_nothing() -> None:
    (read,) = read_patches(made_patch("notes.md", None, "one\ntwo\n"))
    assert (read.is_new, read.applied(None), read.before, read.after) == (True, "one\ntwo\n", "", "one\ntwo")
    with pytest.raises(StoreError, match="there already"):
        read.applied("something")


def test_several_files_stand_one_behind_the_other() -> None:
    text = made_patch("a.md", "x\n", "y\n") + "\n" + made_patch("b.md", "1\n2\n", "1\n3\n")
    first, second = read_patches(text)
    assert (first.path, second.path) == ("a.md", "b.md")
    assert (second.before, second.after) == ("2", "3")


def test_gits_prefixes_are_left_out() -> None:
    (read,) = read_patches("--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1 @@\n-x\n+y\n")
    assert read.path == "MEMORY.md" and read.applied("x\n") == "y\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"), ("words\n", "no header"), ("--- a.md\n+++ b.md\n@@ -1 +1 @@\n-x\n+y\n", "headers name"),
        ("--- a.md\n+++ a.md\n", "nothing is said"), ("--- a.md\n+++ a.md\n@@ odd @@\n", "no header of a place"),
        ("--- a.md\n+++ a.md\n@@ -1,2 +1 @@\n-x\n+y\n", "announced"),
        ("--- a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "headers name"),
        ("--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n-x\n*odd\n+y\n", "neither"),
    ],
)  # fmt: skip
def test_a_patch_that_is_not_exact_is_refused(text: str, why: str) -> None:
    with pytest.raises(StoreError, match=why):
        read_patches(text)


@pytest.mark.parametrize("text", ["changed\n", "", None])
def test_a_change_that_does_not_fit_is_refused(text: str | None) -> None:
    (read,) = read_patches(made_patch("a.md", "x\n", "y\n"))
    with pytest.raises(StoreError, match="can't be made"):
        read.applied(text)
