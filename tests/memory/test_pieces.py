from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_nb.core.blocks import DATA_NOTE
from harness_nb.errors import ToolError
from harness_nb.memory.pieces import MAX_LINES, PIECE_CHARS, numbered_lines, piece, text_lines


def read_to_the_end(text: str, limit: int = PIECE_CHARS) -> str:
    found, offset = "", 0
    while True:
        shown = piece("a.txt", text, offset, limit)
        body, _, hint = shown.rpartition("\n</file")
        found += body.split(f"{DATA_NOTE}\n\n", 1)[1]
        more = re.search(r"offset=(\d+)\.$", hint)
        if more is None:
            return found
        assert int(more[1]) > offset
        offset = int(more[1])


def test_r042_a_single_line_of_400_000_characters_is_read_in_pieces_to_its_end() -> None:
    text = "".join(chr(97 + number % 26) for number in range(400_000))
    assert read_to_the_end(text) == text
    assert len(piece("a.txt", text, 0, 400_000)) < PIECE_CHARS + 300


@settings(max_examples=50)
@given(st.text(alphabet="ab\r\n\u0301\u200d👩🔬é", max_size=60), st.integers(1, 9))
def test_pieces_put_together_are_the_text(text: str, limit: int) -> None:
    assert read_to_the_end(text, limit) == text


def test_no_piece_breaks_a_character() -> None:
    assert 'characters="0-3 of 9"' in piece("a", "abc👩\u200d🔬def", 0, 5)


def test_an_empty_file_is_shown_as_such() -> None:
    assert 'characters="0-0 of 0"' in piece("a", "", 0, 10)


def test_an_offset_behind_the_end_is_refused_with_the_size() -> None:
    with pytest.raises(ToolError, match="offset=9 is behind the end of 'a', which has 3 characters") as caught:
        piece("a", "abc", 9, 10)
    assert caught.value.remedy == "Use an offset from 0 to 2."


def test_r072_only_lf_and_crlf_end_a_line() -> None:
    assert text_lines("a\x0cb\u2028c\rd\r\ne\n\nf\n") == ["a\x0cb\u2028c\rd", "e", "", "f"]
    assert text_lines("") == [] and text_lines("a") == ["a"]


def test_lines_stand_with_their_numbers() -> None:
    assert numbered_lines("a.md", "one\ntwo\nthree\n", 2, 3) == (
        f'<file path="a.md" lines="2-3 of 3">\n{DATA_NOTE}\n\n2|two\n3|three\n</file>'
    )


def test_the_last_line_may_lie_behind_the_end() -> None:
    assert "3|three\n</file>" in numbered_lines("a.md", "one\ntwo\nthree", 1, 99)


def test_many_lines_are_bounded_and_say_how_to_go_on() -> None:
    shown = numbered_lines("a.md", "x\n" * 1_000, 1, None)
    assert shown.endswith(f"There are more lines. Continue with memory_get, start_line={MAX_LINES + 1}.")
    assert f"{MAX_LINES}|x\n</file>" in shown
    assert numbered_lines("a.md", "x\n" * 1_000, 990, None).endswith("1000|x\n</file>")


def test_r042_long_lines_are_bounded_in_characters() -> None:
    shown = numbered_lines("a.md", ("y" * 9_000 + "\n") * 10, 1, None)
    assert len(shown) < PIECE_CHARS + 300 and shown.endswith("start_line=3.")


def test_r042_a_line_that_is_too_long_says_where_to_read_it() -> None:
    text = "short\r\n" + "z" * 30_000 + "\nend"
    assert numbered_lines("a.md", text, 2, 2).endswith("Read it with read_file, offset=7.")
    assert "start_line=2" in numbered_lines("a.md", text, 1, None)
    assert piece("a.md", text, 7, 10).split("\n")[3] == "z" * 10


@pytest.mark.parametrize(("start", "end"), [(4, None), (3, 2)])
def test_lines_that_are_not_there_are_refused(start: int, end: int | None) -> None:
    with pytest.raises(ToolError):
        numbered_lines("a.md", "one\ntwo\nthree\n", start, end)


def test_an_empty_file_has_no_lines() -> None:
    assert 'lines="none"' in numbered_lines("a.md", "", 1, None)
