from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.preview import LEAST_CHARS, Preview, head_and_tail, shorten_arguments
from tests.strategies import json_values, texts

FLAG, FAMILY, HEART, ENGLAND = "🇩🇪", "👩‍👩‍👧‍👦", "❤️", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
CLUSTERS = [
    "a", "é", "\r\n", FLAG, FAMILY, HEART, "👍🏽", "1️⃣", ENGLAND, "e\u0301", "षि", "\u1112\u1161\u11ab", "数", "का",
]  # fmt: skip


@given(st.text() | st.lists(st.sampled_from(CLUSTERS)).map("".join), st.integers(0, 60), st.integers(0, 60))
def test_r044_head_and_tail_do_not_overlap_and_are_the_ends_of_the_text(text: str, head: int, tail: int) -> None:
    preview = head_and_tail(text, head, tail)

    assert text.startswith(preview.head)
    assert text.endswith(preview.tail)
    assert len(preview.head) + preview.omitted + len(preview.tail) == len(text)
    if preview.omitted:
        assert (len(preview.head) <= head, len(preview.tail) <= tail) == (True, True)
        assert preview.with_marker("") == preview.head + preview.tail


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1), st.integers(0, 60), st.integers(0, 60))
def test_r044_no_character_made_of_several_is_broken(clusters: list[str], head: int, tail: int) -> None:
    text = "|".join(clusters)
    ends = {0}
    for cluster in clusters:
        start = max(ends)
        ends |= {start + len(cluster), start + len(cluster) + 1}

    preview = head_and_tail(text, head, tail)

    assert len(preview.head) in ends
    assert len(text) - len(preview.tail) in ends


@pytest.mark.parametrize("cluster", [FLAG, HEART, "👍🏽", "1️⃣", "\r\n", "数", FAMILY])
def test_r044_a_long_run_of_one_character_is_cut_between_two_of_them(cluster: str) -> None:
    preview = head_and_tail(cluster * 200, 60, 60)

    assert preview.omitted > 0
    for piece in (preview.head, preview.tail):
        assert 60 - len(cluster) < len(piece) <= 60
        assert piece == cluster * (len(piece) // len(cluster))


def test_r044_a_text_that_is_little_longer_than_the_preview_loses_only_the_middle() -> None:
    text = "".join(map(str, range(10))) * 10 + "x"

    preview = head_and_tail(text, 60, 60)

    assert preview == Preview(text, "", 0)
    assert head_and_tail(text, 50, 50) == Preview(text[:50], text[51:], 1)


@pytest.mark.parametrize(("head", "tail"), [(0, 0), (-5, -5), (0, 3), (3, 0), (-9, 3)])
def test_a_side_may_be_empty(head: int, tail: int) -> None:
    preview = head_and_tail("0123456789", head, tail)

    assert (len(preview.head), len(preview.tail)) == (max(0, head), max(0, tail))


def test_the_marker_says_how_much_is_left_out_and_text_is_not_scanned_for_marks() -> None:
    preview = Preview("{omitted} ", " {omitted}", 12_345)

    assert preview.with_marker() == "{omitted} \n[12,345 characters left out]\n {omitted}"
    assert Preview("a", "b", 0).with_marker() == "ab"


@pytest.mark.parametrize("hostile", ["e" + "\u0301" * 200_000, FLAG * 100_000, "\u200d" * 200_000, "\ud83d" * 200_000])
def test_previews_of_hostile_texts_are_quick_and_never_longer(hostile: str) -> None:
    preview = head_and_tail(hostile, 1_000, 1_000)

    assert len(preview.head) <= 1_000 and len(preview.tail) <= 1_000


def test_r040_shortened_arguments_are_a_valid_json_object_that_says_the_original_length() -> None:
    arguments = json.dumps({"path": "notes/a.md", "content": "x" * 5_000, "n": 3})

    short = json.loads(shorten_arguments(arguments, 2_000))

    assert (short["path"], short["n"]) == ("notes/a.md", 3)
    assert len(short["content"]) <= 2_000
    assert "of 5,000 characters left out" in short["content"]


@given(st.dictionaries(texts(8), json_values() | st.text(min_size=90, max_size=300)), st.integers(1, 200))
def test_r040_any_object_keeps_its_shape_and_only_long_texts_change(value: dict[str, object], longest: int) -> None:
    arguments = json.dumps(value)

    short = json.loads(shorten_arguments(arguments, longest))

    assert short.keys() == value.keys()
    for key, one in value.items():
        if not isinstance(one, str | list | dict) or (isinstance(one, str) and len(one) <= longest):
            assert short[key] == one
        if isinstance(one, str):
            assert len(short[key]) <= max(longest, LEAST_CHARS)


@given(st.text(max_size=400) | json_values().map(json.dumps), st.integers(1, 200))
def test_r040_whatever_the_arguments_are_shortening_twice_changes_nothing_more(arguments: str, longest: int) -> None:
    once = shorten_arguments(arguments, longest)

    assert shorten_arguments(once, longest) == once
    if once != arguments:
        assert isinstance(json.loads(once), dict)


def test_r040_texts_at_any_depth_are_shortened() -> None:
    arguments = json.dumps({"edits": [{"old": "o" * 900, "new": "n"}, ["s" * 900]]})

    short = json.loads(shorten_arguments(arguments, 100))

    assert short["edits"][0]["new"] == "n"
    assert len(short["edits"][0]["old"]) <= 100 and len(short["edits"][1][0]) <= 100


@pytest.mark.parametrize(
    "arguments", ['{"path": "a.md", "content": "' + "x" * 500, json.dumps(["x" * 500]), '{"a":' * 900 + '"' + "x" * 500]
)
def test_r040_arguments_that_are_no_object_become_one(arguments: str) -> None:
    short = json.loads(shorten_arguments(arguments, 200))

    assert list(short) == ["_unparsed"]
    assert short["_unparsed"].startswith(arguments[:5])
    assert len(short["_unparsed"]) <= 200


def test_r040_an_object_nested_too_deeply_to_walk_becomes_a_shallow_one() -> None:
    arguments = '{"a":' * 700 + '"' + "x" * 500 + '"' + "}" * 700

    assert isinstance(json.loads(shorten_arguments(arguments, 200)), dict)


def test_short_arguments_are_the_same_object_even_when_they_are_no_json() -> None:
    broken = '{"pa'

    assert shorten_arguments(broken, 1) is broken
    numbers = json.dumps({"numbers": list(range(500))})
    assert shorten_arguments(numbers, 100) is numbers
