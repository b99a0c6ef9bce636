from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.utf16 import has_half_pair, utf16_cut, utf16_len

TEXTS = st.text(st.characters(exclude_categories=[]) | st.sampled_from("a🙂\U0010ffff\uffff漢"), max_size=12)


def units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("abc", 3), ("漢字", 2), ("a🙂b", 4), ("\ud83d", 1), ("\uffff", 1)]
)
def test_an_emoji_is_two_units_and_everything_else_one(text: str, length: int) -> None:
    assert utf16_len(text) == length


@given(TEXTS)
def test_lengths_are_those_of_the_encoding(text: str) -> None:
    assert utf16_len(text) == len(units(text))


@given(TEXTS, st.integers(-15, 15), st.none() | st.integers(-15, 15))
def test_a_cut_is_the_slice_of_the_units(text: str, start: int, stop: int | None) -> None:
    assert units(utf16_cut(text, start, stop)) == units(text)[start:stop]


def test_a_cut_through_a_pair_leaves_half_of_it() -> None:
    half = utf16_cut("a🙂", 0, 2)
    assert half == "a\ud83d" and has_half_pair(half)
    assert not has_half_pair("a🙂漢")
