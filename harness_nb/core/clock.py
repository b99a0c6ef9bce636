"""The time, as something that is passed in: day and time of an entry come from one instant in one zone."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from harness_nb.errors import ConfigError

NOW_VARIABLE = "HARNESS_NB_NOW"
"""With this variable set to an aware time in ISO format, clocks made from then on stand still: documents come out alike."""


def _system_now() -> datetime:
    return datetime.now(_here(int(time.monotonic())))


def _computer() -> Callable[[], datetime]:
    """What gives the computer's time, or the one at which it is told to stand still."""
    still = os.environ.get(NOW_VARIABLE)
    if not still:
        return _system_now
    moment = _standing(still)
    return lambda: moment


@functools.lru_cache(maxsize=1)
def _here(second: int) -> tzinfo | None:
    """The computer's zone with its offset now; asked once a second, as it costs more than the time itself."""
    return datetime.now().astimezone().tzinfo


def _standing(text: str) -> datetime:
    moment: datetime | None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ConfigError(
            f"{NOW_VARIABLE}={text!r} is no time with a zone.",
            "Set it to one such as '2026-04-12T09:30:00+00:00', or unset it.",
            subject=NOW_VARIABLE,
        )
    return moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A source of the time in one zone.

    Attributes:
        zone: IANA name such as `Asia/Tokyo`; None for the computer's own zone.
        read: Gives an aware time; the computer's own by default.
    """

    zone: str | None = None
    read: Callable[[], datetime] = field(default_factory=_computer)

    def __post_init__(self) -> None:
        if self.zone is not None:
            zone_info(self.zone)

    def now(self) -> datetime:
        """The time now, aware, in this clock's zone."""
        moment = self.read()
        return moment.astimezone(zone_info(self.zone)) if self.zone is not None else moment

    @classmethod
    def fixed(cls, moment: datetime, zone: str | None = None) -> Clock:
        """A clock that always gives the same aware time."""
        if moment.tzinfo is None:
            raise ConfigError(f"{moment.isoformat()} has no time zone.", "Give an aware datetime.", subject=moment)
        return cls(zone=zone, read=lambda: moment)


def zone_info(name: str) -> tzinfo:
    """The time zone of that IANA name.

    Raises:
        ConfigError: No such zone is known here.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError) as error:
        raise ConfigError(
            f"{name!r} is no known time zone.", "Use an IANA name such as 'Europe/Berlin' or 'UTC'.", subject=name
        ) from error
