from __future__ import annotations

import pytest

from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Text
from harness_nb.policies.openclaw.results import (
    aggregate_cap,
    capped_results,
    cut_result,
    cut_text,
    kept_chars,
    result_cap,
)
from harness_nb.policies.openclaw.sizes import result_chars
from tests.policies.openclaw.talks import called, items, result


@pytest.mark.parametrize(
    ("window", "cap"), [(8_000, 9_600), (64_000, 16_000), (100_000, 32_000), (200_000, 64_000), (1_000, 1_200)]
)
def test_the_cap_of_a_result_follows_the_window(window: int, cap: int) -> None:
    assert result_cap(window, None) == cap
    assert aggregate_cap(window, cap) == max(4 * cap, 2 * window)


def test_a_text_is_cut_at_a_line_end_in_its_last_fifth() -> None:
    text = cut_text("plain log row\n" * 2_000, 16_000, 2_000)
    head, tail = kept_chars(text)
    assert len(text) <= 16_000 and tail == 0 and text[:head].endswith("row")
    assert kept_chars(cut_text("x" * 30_000, 16_000, 2_000)) == (15_927, 0)


@pytest.mark.parametrize("end", ["}", "\nerror: it failed", "\nTotal 5"])
def test_an_end_that_says_something_stays(end: str) -> None:
    text = cut_text("x" * 30_000 + end, 16_000, 2_000)
    assert kept_chars(text)[1] == 4_000 and len(text) == 16_000 and end in text


def test_where_there_is_no_room_only_the_notice_is_left() -> None:
    text = cut_text("x" * 9_999, 69, 0)
    assert len(text) == 69 and kept_chars(text) == (0, 0)
    assert cut_text("short", 69, 0) == "short"


def test_texts_of_several_parts_share_the_cap() -> None:
    item = Item(0, Message.tool("c", (Text("x" * 30_000), Text("y" * 10_000))))
    made = cut_result(item, 16_000, 2_000)
    first, second = (len(part.text) for part in made.message.parts if isinstance(part, Text))
    assert first == 12_000 and second == 4_000


def test_oldest_results_give_way_first_and_the_last_batch_is_spared() -> None:
    talk = [one for at in range(5) for one in (called(f"c{at}"), result(f"c{at}", 3_000))]
    caps = capped_results(items(talk), 16_000, 40_000, spare_last=True)
    sizes = [result_chars(one.message) for one in caps.items if one.message.role == "tool"]
    assert sizes[0] < 200 and sizes[1] < 12_000 and sizes[2:] == [12_000, 12_000, 12_000]
    assert caps.under_pressure and caps.changed == 2 and sum(sizes) <= 40_000


def test_without_any_room_results_are_emptied() -> None:
    talk = [one for at in range(4) for one in (called(f"c{at}"), result(f"c{at}", 100))]
    caps = capped_results(items(talk), 16_000, 60, spare_last=False)
    assert sum(result_chars(one.message) for one in caps.items if one.message.role == "tool") <= 60


def test_nothing_changes_below_the_caps() -> None:
    talk = items([called("c"), result("c", 10)])
    caps = capped_results(talk, 16_000, 64_000, spare_last=True)
    assert caps.items == tuple(talk) and not caps.changed and not caps.under_pressure
