from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.memory.outline import HAND_ENDS, HAND_STARTS, as_entry, blocks, entries, hand_written, joined

LINES = st.sampled_from(
    ["", "# A", "## B", "- one", "  - nested", "* two", "1. three", "para", "  indented", "```", "~~~ py", "\t- tab",
     HAND_STARTS, HAND_ENDS, "<!-- x -->", "- [#x", "---", " \x0c", "\u2028"]
)  # fmt: skip


@given(st.lists(LINES | st.text(max_size=8)).map("\n".join))
def test_the_texts_of_all_blocks_are_the_file(text: str) -> None:
    assert "".join(block.text for block in blocks(text)) == text
    assert joined(blocks(text)) == text


def test_entries_are_bullets_with_what_belongs_to_them_paragraphs_and_fenced_blocks() -> None:
    text = "# A\n- one\n  goes on\n  - nested\nlazily\n* two\n\npara\nmore\n## B\n```py\n# no heading\n- no bullet\n\n```\n"
    found = entries(text)
    assert [block.text for block in found] == [
        "- one\n  goes on\n  - nested\nlazily\n", "* two\n", "para\nmore\n", "```py\n# no heading\n- no bullet\n\n```\n",
    ]  # fmt: skip
    assert [block.heading for block in found] == ["A", "A", "A", "B"]


def test_a_fence_that_is_not_closed_goes_to_the_end() -> None:
    assert [block.text for block in entries("- a\n\n```\n- b\n# c")] == ["- a\n", "```\n- b\n# c"]


def test_a_hand_written_part_is_one_block_whatever_is_in_it() -> None:
    text = f"- a\n{HAND_STARTS}\n# Mine\n- b\n```\n{HAND_ENDS}\n- c\n"
    assert [block.text for block in hand_written(text)] == [f"{HAND_STARTS}\n# Mine\n- b\n```\n{HAND_ENDS}\n"]
    assert [block.text for block in entries(text)] == ["- a\n", "- c\n"]
    assert hand_written(f"- a\n{HAND_STARTS}\n- b")[0].text == f"{HAND_STARTS}\n- b"
    assert hand_written("<!--Hand-Written-->\nx\n<!--/ HAND-WRITTEN -->\n- a")[0].text.count("\n") == 3


def test_marks_case_comments_and_white_space_do_not_make_another_entry() -> None:
    one, other = entries("- Lab  uses\n  Python <!-- session s1 -->\n\n* lab uses python\n")
    assert one.key == other.key == "lab uses python"


@pytest.mark.parametrize("text", ["a\n- b", "- a\n\n  - b\r\n", "* a\nb"])
def test_r063_a_text_of_many_lines_is_one_entry(text: str) -> None:
    (entry,) = entries(f"- before\n{as_entry(text)}\n- after\n")[1:2]
    assert "\n" not in as_entry(text) and "<br>" in entry.text
    assert len(entries(f"- before\n{as_entry(text)}\n- after\n")) == 3
