from __future__ import annotations

import pytest

from harness_nb.core.weights import weighted_chars


@pytest.mark.parametrize(
    ("text", "chars"),
    [("", 0), ("plain", 5), ("é", 1), ("日志", 8), ("한a", 5), ("（", 4), ("😀", 2), ("𠀀", 4), ("カナ x", 10)],
)
def test_east_asian_characters_count_four_times(text: str, chars: int) -> None:
    assert weighted_chars(text) == chars
