"""Lanes: sizes along a conversation, drawn and in words."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

from harness_nb.render.lanes import Lane, bars, lanes_drawing, largest


def test_bars_go_from_a_dot_to_a_whole_block() -> None:
    assert bars([0, 0.001, 0.5, 1, 2]) == "·▁▅██"


def test_the_largest_of_neighbours_stands_and_gaps_keep_the_size_before() -> None:
    points = [(1, 10), (2, 30), (4, 20), (8, 5)]
    assert largest(points, 8, 4) == [30, 20, 20, 5]
    assert largest(points, 8, 100) == [10, 30, 30, 20, 20, 20, 20, 5]
    assert largest([], 0, 4) == [0]


def test_all_lanes_have_one_scale_and_each_says_its_peak_in_words() -> None:
    lanes = [Lane("small", [(1, 100), (2, 200)], [2], 1_000), Lane("large <b>", [(1, 500), (2, 800)], [], 500)]
    drawing = lanes_drawing(lanes, 2)
    assert drawing.text.splitlines() == [
        "small      ▂▃  peak 200, 1 compaction",
        "large <b>  ▅█  peak 800, 0 compactions",
    ]
    assert 'alt="small: peak 200, 1 compaction; large &lt;b&gt;: peak 800, 0 compactions"' in drawing.html
    svg = base64.b64decode(re.search(r'base64,([^"]+)', drawing.html)[1]).decode()  # type: ignore[index]  # it is there
    assert ElementTree.fromstring(svg).tag.endswith("svg")  # noqa: S314 - made here
    assert (
        svg.count("M0 80") == 1 and "stroke-dasharray" in svg
    )  # one window is within the scale, which all lanes share


def test_an_empty_conversation_is_a_flat_line() -> None:
    assert lanes_drawing([Lane("a", [], [], 1)], 0).text == "a  ·  peak 0, 0 compactions"
