"""Entries of an archive: cut, cleaned, and shown."""

from __future__ import annotations

import pytest

from harness_nb.core import archive
from harness_nb.core.archive import ArchiveEntry


def count(text: str) -> int:
    return len(text.encode())


def test_a_text_within_its_limit_stays_and_a_longer_one_says_that_it_was_cut() -> None:
    assert archive.cut_chars("abc", 3) == "abc"
    assert archive.cut_chars("abcd", 3) == "abc" + archive.CUT_SUFFIX
    assert archive.cut_chars("abcd", 0) == "abcd"


def test_a_cut_by_tokens_counts_the_mark_and_never_splits_a_character() -> None:
    text = "é" * 40
    cut = archive.cut_tokens(text, 41, count)
    assert cut.endswith(archive.CUT_SUFFIX)
    assert count(cut) <= 41
    assert set(cut.removesuffix(archive.CUT_SUFFIX)) == {"é"}
    assert archive.cut_tokens("abcdef", 4, count) == "abcd"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>hm</think>a fact", "a fact"),
        ("<thinking>never closed", ""),
        ("a fact</think>", "a fact"),
        ("<channel|>a fact", "a fact"),
        ("a fact <thi", "a fact"),
        ("say <thinker> and </think> in the middle", "say <thinker> and </think> in the middle"),
    ],
)
def test_reasoning_is_left_out_of_what_is_kept(text: str, left: str) -> None:
    assert archive.without_thinking(text) == left


def test_a_summary_has_its_limit_and_a_dump_a_larger_one() -> None:
    assert len(archive.kept("x" * 9_000)) == archive.SUMMARY_CHARS + len(archive.CUT_SUFFIX)
    assert len(archive.kept(archive.RAW_MARK + "x" * 9_000)) == len(archive.RAW_MARK) + 9_000


def test_the_newest_entries_are_shown_oldest_first_and_cut_at_the_end() -> None:
    entries = [ArchiveEntry("t", f"fact {number}") for number in range(4)]
    shown = archive.recent_section(entries, most=2, most_tokens=100, count=count)
    assert shown == "- [t] fact 2\n- [t] fact 3"
    assert archive.recent_section(entries, most=4, most_tokens=30, count=count).startswith("- [t] fact 0")
    assert archive.recent_section([], most=4, most_tokens=30, count=count) == ""


def test_only_the_newest_entry_that_equals_the_summary_is_left_out() -> None:
    entries = [ArchiveEntry("1", "same"), ArchiveEntry("2", "other"), ArchiveEntry("3", "same")]
    assert [one.time for one in archive.shown_once(entries, "same")] == ["1", "2"]
    assert archive.shown_once(entries, "new") == tuple(entries)
