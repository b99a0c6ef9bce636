from __future__ import annotations

import pytest

from harness_nb.memory.consolidation_reply import read_memory
from harness_nb.memory.outline import HAND_ENDS, HAND_STARTS

FILE = "# Memory\n\n## Facts\n\n- default solver: DOP853\n"


@pytest.mark.parametrize(
    "reply",
    [
        FILE,
        f"```markdown\n{FILE}```",
        f"~~~~\n{FILE}~~~~\n",
        f"Here is the new file:\n\n```\n{FILE}```\nLet me know!",
        f"<think>The solver\n- changed</think>\n{FILE}",
        f"Here is the updated MEMORY.md:\n\n{FILE}",
        f"<memory>\n{FILE}</memory>",
        f"\ufeff{FILE}",
        f"{FILE}\n{HAND_STARTS}\n- theirs\n{HAND_ENDS}\n",
    ],
)
def test_the_file_is_found_in_any_dress(reply: str) -> None:
    assert read_memory(reply).text == FILE and read_memory(reply).refused == ""


def test_a_fence_inside_the_file_belongs_to_it() -> None:
    text = f"{FILE}\n```sh\nmake all\n```\n"
    assert read_memory(text).text == text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("```\n```", "no list of notes"),
        ("<think>- a\n- b", "empty"),
        ("NO_REPLY", "nothing to write"),
        ("I'm sorry, but I can't help with that.", "no list of notes"),
        ('{"memory": "- a"}', "no list of notes"),
        (f"<entries>\n- a\n</entries>\n{FILE}", "repeated the request"),
        ("# Memory\n", "no list of notes"),
        ("Here it is:", "no list of notes"),
    ],
)
def test_r055_r056_what_is_no_file_is_refused_with_the_reason(reply: str, why: str) -> None:
    found = read_memory(reply)
    assert found.text == "" and why in found.refused


def test_a_reply_that_was_cut_is_refused() -> None:
    assert "length limit" in read_memory(FILE, is_cut=True).refused


def test_a_file_of_paragraphs_is_taken_when_it_keeps_some_of_them() -> None:
    assert read_memory("The lab is in Lyon.\n\nNew.\n", "The lab is in Lyon.\n").text == "The lab is in Lyon.\n\nNew.\n"
    assert read_memory("The lab is in Lyon.\n", "Another.\n").refused
