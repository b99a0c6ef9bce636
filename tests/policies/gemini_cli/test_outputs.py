from __future__ import annotations

import json

import pytest

from harness_nb.core.item import Item
from harness_nb.policies.gemini_cli.outputs import MASK_TAG, filed_text, masked, preview, shares, shortened
from tests.policies.gemini_cli.talks import result


@pytest.mark.parametrize(
    ("display", "head", "tail"),
    [(40_000, 8_000, 32_000), (36_728, 7_345, 29_383), (0, 0, 0), (-1, -1, 0), (-264_000, -52_800, -211_200)],
)
def test_a_fifth_stays_at_the_beginning(display: int, head: int, tail: int) -> None:
    assert (shares(display).head, shares(display).tail) == (head, tail)


@pytest.mark.parametrize(
    ("display", "head", "tail"),
    [(100, 20, 80), (0, 0, 1_000), (-1, 999, 1_000), (-1_000, 800, 200), (-6_000, 0, 0)],
)
def test_below_zero_head_and_tail_overlap_or_vanish_as_in_gemini_cli(display: int, head: int, tail: int) -> None:
    item = shortened(Item(3, result("c", "x" * 1_000)), display, "files/c.txt")
    assert (item.meta["head"], item.meta["tail"], item.meta["omitted"]) == (head, tail, 1_000 - display)
    assert item.how == "evicted" and "files/c.txt" in item.message.text
    assert item.message.text.count("x") - "files/c.txt".count("x") == head + tail + "its first".count("x")


def test_the_words_around_are_as_long_as_gemini_clis() -> None:
    text = shortened(Item(3, result("c", "x" * 1_000)), 100, "p").message.text
    assert len(text) == 100 + 110 + len("20") + len("80") + len("900") + len("p") and text.count("\n") == 5
    shown = preview("x" * 1_000, is_shell=False)
    assert len(masked(Item(3, result("c")), shown, "path").message.text) == 89 + len(shown.text) + len("path")


def test_other_tools_are_previewed_by_both_ends_of_their_readable_json() -> None:
    shown = preview("x" * 1_000, is_shell=False)
    assert (shown.unit, shown.head, shown.tail, len(shown.text)) == ("json_chars", 250, 250, 521)
    assert shown.text.startswith('{\n  "output": "xxx') and shown.text.endswith('xxx"\n}')
    assert preview("short", is_shell=False).text == filed_text("short")
    assert json.loads(filed_text("a\nb")) == {"output": "a\nb"}


def test_a_shell_is_previewed_by_its_first_and_last_ten_lines() -> None:
    text = "\n".join(f"line {at}" for at in range(50))
    shown = preview(text, is_shell=True)
    assert (shown.unit, shown.head, shown.tail, shown.omitted) == ("lines", 10, 10, 30)
    assert shown.text.startswith("line 0\n") and shown.text.endswith("\nline 49") and "line 10\n" not in shown.text
    for whole in ("x" * 9_000, "\n".join("a" * 20)):
        assert preview(whole, is_shell=True).unit == "whole" and preview(whole, is_shell=True).text == whole


def test_of_a_shells_sections_only_the_output_is_cut() -> None:
    lines = "\n".join(f"line {at}" for at in range(50))
    shown = preview(f"Output: {lines}\nError: bad\nworse\nExit Code: 2", is_shell=True)
    assert (shown.head, shown.tail, shown.omitted) == (10, 13, 30)
    assert shown.text.startswith("Output: line 0\n") and shown.text.endswith("line 49\nError: bad\nworse\nExit Code: 2")
    assert preview(f"Error: {lines}", is_shell=True).unit == "whole"
    before = preview(f"{lines}\nOutput: a", is_shell=True)
    assert (before.head, before.tail) == (10, 11) and before.text.endswith("\nOutput: a")


def test_a_masked_result_keeps_its_call_and_says_where_all_of_it_is() -> None:
    item = masked(Item(3, result("c", "x" * 1_000)), preview("x" * 1_000, is_shell=False), "files/c.txt")
    assert item.message.call_id == "c" and item.message.text.startswith(MASK_TAG)
    assert "files/c.txt" in item.message.text and "omitted" not in item.meta
