from __future__ import annotations

from harness_nb.policies.opencode.spilling import Spill, spilled


def cut(
    text: str, *, lines: int = 2_000, size: int = 51_200, end: bool = False, is_shell: bool = False
) -> Spill | None:
    return spilled(text, max_lines=lines, max_bytes=size, keeps_end=end or is_shell, splits_line=is_shell)


def test_a_text_within_both_limits_stays() -> None:
    assert cut("x\n" * 1_999) is None
    assert cut("x" * 51_200) is None


def test_a_last_line_feed_begins_one_more_line() -> None:
    found = cut("x\n" * 2_000)
    assert found is not None and (found.lines, found.omitted, found.unit) == (2_000, 1, "lines")


def test_whole_lines_stay_and_joining_line_feeds_count() -> None:
    found = cut("line\n" * 100, lines=100, size=52)
    assert found is not None
    assert (found.text, found.lines, found.omitted, found.unit) == ("\n".join(["line"] * 10), 10, 451, "bytes")


def test_the_end_stays_where_it_is_wanted() -> None:
    found = cut("\n".join(map(str, range(10))), lines=3, end=True)
    assert found is not None and (found.text, found.omitted, found.unit) == ("7\n8\n9", 7, "lines")


def test_a_single_long_line_leaves_nothing() -> None:
    found = cut("x" * 51_201)
    assert found is not None and (found.text, found.omitted, found.unit) == ("", 51_201, "bytes")


def test_a_shell_keeps_the_end_of_a_long_last_line_from_the_border_of_a_character() -> None:
    found = cut("first\n" + "字" * 20, size=31, is_shell=True)
    assert found is not None
    assert (found.text, found.lines, found.inside_line) == ("字" * 10, 0, True)


def test_a_shell_keeps_last_lines_like_others() -> None:
    found = cut("first\nsecond", size=8, is_shell=True)
    assert found is not None and (found.text, found.inside_line) == ("second", False)
