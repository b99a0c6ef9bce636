from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness_nb.core.clock import Clock, zone_info
from harness_nb.errors import ConfigError

MOMENT = datetime(2026, 4, 11, 18, 53, tzinfo=UTC)


def test_r053_day_and_time_come_from_one_instant_in_the_clocks_zone() -> None:
    now = Clock.fixed(MOMENT, "Asia/Tokyo").now()

    assert now.isoformat() == "2026-04-12T03:53:00+09:00"
    assert now == MOMENT


def test_a_fixed_clock_stands() -> None:
    clock = Clock.fixed(MOMENT)

    assert clock.now() is clock.now() is MOMENT


def test_the_computers_own_time_is_aware() -> None:
    now = Clock().now()

    assert now.tzinfo is not None
    assert abs(now - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_time_without_a_zone_fixes_no_clock() -> None:
    with pytest.raises(ConfigError, match="2026-04-12T00:00:00 has no time zone"):
        Clock.fixed(datetime(2026, 4, 12))  # noqa: DTZ001


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../UTC", "/etc/localtime", "a\0b", 5])
def test_a_zone_that_is_not_known_is_refused_by_name(name: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Clock(zone=name)
    assert repr(name) in caught.value.problem
    with pytest.raises(ConfigError):
        zone_info(name)


def test_the_computers_clock_stands_still_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_NB_NOW", "2026-04-12T09:30:00+00:00")
    assert Clock().now() == datetime(2026, 4, 12, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["noon", "2026-04-12T09:30:00"])
def test_a_standing_time_that_is_not_valid_is_refused_by_value(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_NB_NOW", text)
    with pytest.raises(ConfigError, match=f"HARNESS_NB_NOW='{text}'"):
        Clock().now()
