from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from harness_nb.cli import values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("200_000", 200_000),
        ("8k", 8_000),
        ("1.5K", 1_500),
        ("2m", 2_000_000),
        ("0.75", 0.75),
        ("0.0005k", 0.5),
        ("true", True),
        ("No", False),
        ("none", None),
        ("report", "report"),
        ("8kb", "8kb"),
        ('["a", 1]', ["a", 1]),
        ("[unfinished", "[unfinished"),
        ("", ""),
    ],
)
def test_a_typed_value_is_what_it_looks_like(text: str, value: Any) -> None:
    assert values.meant(text) == value and type(values.meant(text)) is type(value)


def test_a_setting_has_a_name_and_a_value_which_may_hold_equal_signs() -> None:
    assert values.setting("keep-messages = 4") == ("keep_messages", 4)
    assert values.setting("prompt=a=b") == ("prompt", "a=b")


def test_values_to_try_stand_between_commas_and_json_is_one_of_them() -> None:
    assert values.choices("keep=4, 8k,none") == ("keep", [4, 8_000, None])
    assert values.choices("names=[1,2]") == ("names", [[1, 2]])


def test_windows_and_names_are_taken_once_each_in_their_order() -> None:
    assert values.windows("32k,8k,32000") == (32_000, 8_000)
    assert values.names("b, a,b,") == ("b", "a")


@pytest.mark.parametrize("text", ["", "many", "0", "-8k", "1.5", "8k,,9k"])
def test_what_is_no_number_of_tokens_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no number of tokens"):
        values.windows(text)


@pytest.mark.parametrize("text", ["keep", "=4", " =4"])
def test_what_sets_nothing_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="sets nothing"):
        values.setting(text)


def test_a_file_is_named_with_an_ending_that_is_known() -> None:
    path = values.out_file(".json", ".csv")
    assert path("a/b.csv") == Path("a/b.csv")
    with pytest.raises(click.BadParameter, match=r"'b.txt' names no form to write in. End it in .json, .csv."):
        path("b.txt")
