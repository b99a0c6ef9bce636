"""Comparing what was expected of a case with what came of it.

Everything is compared exactly, unless the adapter marks a value as one of these:

* `Worded`: a figure that counts words of ours where the real system has its own;
* `WordedShare`: a percentage that such figures are in;
* `Wording`: such words themselves;
* `Ranked`: a relevance figure, recorded with six digits;
* `Tied`: a list in which neighbours of equal rank have no order.

They are plain values otherwise, so an outcome can be written as JSON as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

SHARE = 0.02
TOKENS = 60
"""How far a worded figure may be off: two parts in a hundred or sixty tokens, whichever is more ..."""

MOST = 0.045
"""... but never so far that one which is off by a tenth could pass."""

_RANK_SHARE = 5e-6  # six digits
_FIGURES = "token_estimates"
_MISSING = object()


class Worded(int):
    """A figure that counts words of ours: it may be off by `SHARE` or `TOKENS`, within `MOST`."""


class WordedShare(float):
    """A percentage that counts words of ours: it may be off by one point, within `MOST`."""


class Wording(str):
    """A text of ours: only that there is one is compared."""

    __slots__ = ()


class Ranked(float):
    """A figure that was recorded with six digits."""


class Tied(list[Any]):
    """A list of mappings with a `rank`; neighbours of equal rank may come in any order."""


class Difference(NamedTuple):
    """One place where an outcome is not what was expected.

    Attributes:
        place: Where, as a path such as `output[3].index`.
        expected: What was recorded; a word for it when it is missing.
        actual: What came.
    """

    place: str
    expected: object
    actual: object


@dataclass(frozen=True, slots=True)
class Absent:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "(missing)"


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[Difference, ...]:
    """All places where an outcome is not what was expected; none means that the case passes.

    Args:
        expected: What was recorded.
        actual: What came; keys that were not recorded are passed over at the top and among token estimates, nowhere else.
    """
    came = {**actual, _FIGURES: _recorded(expected.get(_FIGURES), actual.get(_FIGURES, _MISSING))}
    return tuple(found for key in expected for found in _between(key, expected[key], came.get(key, _MISSING)))


def _recorded(expected: Any, actual: Any) -> Any:
    """Figures without those that were not recorded."""
    if not isinstance(expected, Mapping) or not isinstance(actual, Mapping):
        return actual
    return {key: actual[key] for key in expected if key in actual}


def _between(place: str, expected: Any, actual: Any) -> Iterator[Difference]:
    if actual is _MISSING or expected is _MISSING:
        yield Difference(place, *(Absent() if one is _MISSING else one for one in (expected, actual)))
    elif isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in [*expected, *(key for key in actual if key not in expected)]:
            yield from _between(f"{place}.{key}", expected.get(key, _MISSING), actual.get(key, _MISSING))
    elif isinstance(expected, list) and isinstance(actual, Sequence) and not isinstance(actual, str):
        yield from _between_lists(place, expected, actual)
    elif not _equal(expected, actual):
        yield Difference(place, expected, actual)


def _between_lists(place: str, expected: list[Any], actual: Sequence[Any]) -> Iterator[Difference]:
    if isinstance(actual, Tied):
        expected, actual = _settled(expected), _settled(actual)
    for at in range(max(len(expected), len(actual))):
        pair = (one[at] if at < len(one) else _MISSING for one in (expected, actual))
        yield from _between(f"{place}[{at}]", *pair)


def _settled(ranked: Sequence[Any]) -> list[Any]:
    """A list with neighbours of equal rank in an order of their own."""
    groups = groupby(ranked, key=lambda one: f"{one['rank']:.6g}" if isinstance(one, Mapping) and "rank" in one else "")
    return [
        one
        for _, group in groups
        for one in sorted(group, key=lambda one: repr(sorted((key, one[key]) for key in one if key != "rank")))
    ]


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(actual, Wording):
        return isinstance(expected, str)
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(actual, Worded):
        return isinstance(expected, int | float) and abs(expected - actual) <= _allowed(expected)
    if isinstance(actual, WordedShare):
        return isinstance(expected, int | float) and abs(expected - actual) <= min(1.0, MOST * abs(expected))
    if isinstance(actual, Ranked):
        return isinstance(expected, int | float) and math.isclose(expected, actual, rel_tol=_RANK_SHARE)
    return bool(expected == actual)


def _allowed(expected: float) -> float:
    return min(max(SHARE * abs(expected), TOKENS), MOST * abs(expected))
