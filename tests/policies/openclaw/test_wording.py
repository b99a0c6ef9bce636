from __future__ import annotations

from datetime import UTC, datetime

import pytest

from harness_nb.policies.openclaw import wording

FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (wording.SUMMARY_OPENING, 96),
        (wording.SUMMARY_CLOSING, 11),
        (wording.SPLIT_TURN, 32),
        (wording.DIVIDER, 7),
        (wording.EXCERPTS, 37),
        (wording.FAILURES, 19),
        (wording.CUT_SUMMARY, 46),
        (wording.NO_HISTORY, 17),
        (wording.WITHOUT_OUTPUT, 18),
        (wording.REDISTILL_OPENING + wording.REDISTILL_CLOSING, 216),
        (wording.BLANK_REQUEST, 10),
        (wording.MIDDLE, 63),
        (wording.ELIDED, 102),
        (wording.OLD_PICTURE, 49),
        (wording.OLD_REFERENCE, 54),
        (wording.PRUNED_PICTURE, 38),
        (wording.CLEARED, 33),
        (wording.UNREADABLE, 41),
        (wording.stub(""), 144),
        (wording.omitted(1), 69),
        (wording.omitted_in_short(1), 36),
        (wording.trimmed(1_500, 1_500, 20_000), 82),
        (wording.part_label(1, 2, FIRST, LAST), 70),
        (wording.part_label(2, 2, FIRST, LAST), 75),
        (wording.part_label(2, 3, None, None), 12),
        (wording.partly(1, 2), 88),
        (wording.too_large("user", 12_000), 47),
        (wording.unavailable(4, 0), 83),
        (wording.more_lines(3), 13),
    ],
)
def test_texts_that_count_in_a_size_have_the_length_of_the_originals(text: str, length: int) -> None:
    assert len(text) == length


def test_the_stub_takes_an_earlier_summary_over_and_keeps_one_that_has_the_headings() -> None:
    assert "we met" in wording.stub("we met") and wording.has_sections(wording.stub("we met"))
    whole = wording.stub("x")
    assert wording.stub(f"  {whole}\n") == whole


def test_headings_count_in_their_order_only() -> None:
    assert wording.has_sections("\n".join(wording.HEADINGS))
    assert not wording.has_sections("\n".join(reversed(wording.HEADINGS)))
