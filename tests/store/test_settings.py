from __future__ import annotations

from typing import Any

import pytest

from harness_nb.errors import ConfigError
from harness_nb.store.hits import KINDS
from harness_nb.store.settings import check_limit, check_neighbours, checked_kinds, checked_mode


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3", None])
def test_a_limit_is_a_whole_number_above_0(limit: Any) -> None:
    with pytest.raises(ConfigError, match="limit="):
        check_limit(limit)


@pytest.mark.parametrize("count", [-1, True, 1.5, "3", None])
def test_neighbours_are_a_whole_number_of_0_or_more(count: Any) -> None:
    with pytest.raises(ConfigError, match="neighbours="):
        check_neighbours(count)


def test_kinds_are_known_ones_in_a_fixed_order() -> None:
    assert checked_kinds(None) == KINDS
    assert checked_kinds(["memory", "daily"]) == checked_kinds(("daily", "memory")) == ["daily", "memory"]
    assert checked_kinds("session") == ["session"]


@pytest.mark.parametrize(("kinds", "said"), [(["diary"], "'diary'"), ([], "No kind"), ("mem", "'mem'")])
def test_other_kinds_are_refused(kinds: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        checked_kinds(kinds)


def test_an_unknown_mode_is_refused() -> None:
    assert checked_mode("keyword") == "keyword"
    with pytest.raises(ConfigError, match="mode='magic'"):
        checked_mode("magic")  # type: ignore[arg-type]
