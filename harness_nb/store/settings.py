"""The settings of a search, checked before anything is looked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

from harness_nb.errors import ConfigError
from harness_nb.store import semantic
from harness_nb.store.hits import KINDS, Kind

Mode = Literal["keyword", "hybrid", "auto"]
_MODES: tuple[Mode, ...] = get_args(Mode)


def check_limit(limit: int) -> None:
    """Makes sure that it is a number of hits.

    Raises:
        ConfigError: It is no whole number above 0.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ConfigError(f"limit={limit!r} is no number of hits.", "Give a whole number above 0.", subject="limit")


def check_neighbours(count: int) -> None:
    """Makes sure that it is a number of lines.

    Raises:
        ConfigError: It is no whole number of 0 or more.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ConfigError(
            f"neighbours={count!r} is no number of lines.", "Give 0 or a whole number above.", subject="neighbours"
        )


def checked_kinds(kinds: Collection[str] | None) -> Collection[Kind]:
    """The kinds, all where none are named.

    Raises:
        ConfigError: One of them is unknown, or there are none.
    """
    if kinds is None:
        return KINDS
    named = [kinds] if isinstance(kinds, str) else kinds
    unknown = [kind for kind in named if kind not in KINDS]
    if unknown or not named:
        problem = f"{unknown[0]!r} is no kind of hit." if unknown else "No kind of hit is named."
        raise ConfigError(problem, f"Name some of {', '.join(KINDS)}.", subject="kinds")
    return [kind for kind in KINDS if kind in named]


def checked_mode(mode: Mode) -> Literal["keyword", "hybrid"]:
    """What to search by; `auto` is hybrid where the extra for that is installed.

    Raises:
        ConfigError: There is no such mode, or the extra is not installed.
    """
    if mode == "auto":
        return "hybrid" if semantic.is_available() else "keyword"
    if mode not in _MODES:
        raise ConfigError(f"mode={mode!r} is unknown.", f"Use one of {', '.join(_MODES)}.", subject="mode")
    if mode == "hybrid":
        semantic.require()
    return mode
