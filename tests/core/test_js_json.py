from __future__ import annotations

import pytest

from harness_nb.core.js_json import js_json, js_number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (250.0, "250"),
        (2.5, "2.5"),
        (-0.5, "-0.5"),
        (1e-6, "0.000001"),
        (-1.5e-5, "-0.000015"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (1e16, "10000000000000000"),
        (123456789012345678, "123456789012345680"),
        (7, "7"),
        (float("nan"), "null"),
        (10**400, "null"),
    ],
)
def test_numbers_are_written_as_javascript_does(value: float, written: str) -> None:
    assert js_number(value) == written


def test_values_are_compact_and_texts_keep_their_characters() -> None:
    value = {"a": [1, 2.0, None, True], "ü": "日本\n\u2028", "q": '"\\\x00', "n": {}}
    assert js_json(value) == '{"a":[1,2,null,true],"ü":"日本\\n\u2028","q":"\\"\\\\\\u0000","n":{}}'


def test_half_a_pair_is_escaped() -> None:
    assert js_json("a\ud83d") == '"a\\ud83d"'
    assert js_json("😀") == '"😀"'
