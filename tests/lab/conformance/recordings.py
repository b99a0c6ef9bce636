"""Made-up recordings, and changing one recorded value at a time."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from typing import Any

from harness_nb.core.messages import to_json

HINTS = frozenset({"reason", "error"})
"""Keys of texts in a system's own words: only that there is one is compared."""

Path = tuple[str | int, ...]


def case(**fields: Any) -> dict[str, Any]:
    """A case of Eney's in which nothing is to do."""
    made = {
        "id": "eney-made",
        "system": "eney",
        "kind": "under",
        "note": "made up",
        "config": {"model": "gpt", "window_override": 1_000},
        "messages": [{"role": "system", "content": {"repeat": ["ab", 20]}}, {"role": "user", "content": "hello"}],
        "stub": {"answers": []},
        "expect": {
            "status": "noop",
            "output": [{"kind": "verbatim", "index": 1}],
            "summarised": [],
            "token_estimates": {"before": 12},
        },
    }
    return {**made, **fields}


def as_lines(*cases: Mapping[str, Any]) -> str:
    """Cases as a file's text."""
    return "".join(f"{to_json(one)}\n" for one in cases)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every plain value inside one, with its place."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from leaves(one, (*path, at))
    elif value is not None:
        yield path, value


def changeable(expect: Mapping[str, Any]) -> list[tuple[Path, Any]]:
    """Recorded values that must not be changed unnoticed: an estimate only where a tenth of it is something."""
    found = [(path, value) for path, value in leaves(dict(expect)) if path[-1] not in HINTS]
    return [(path, value) for path, value in found if not _is_estimate(path) or abs(value) >= 10]


def changed(expect: Mapping[str, Any], chance: random.Random) -> tuple[Path, dict[str, Any]]:
    """An expectation with one value changed: a figure of tokens by a tenth, any other figure by one, a text by a sign."""
    path, value = chance.choice(changeable(expect))
    made = copy.deepcopy(dict(expect))
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = _other(value, _is_estimate(path), chance)
    return path, made


def _is_estimate(path: Path) -> bool:
    return "token_estimates" in path


def _other(value: Any, is_estimate: bool, chance: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if is_estimate:
        return value + chance.choice((1, -1)) * max(1, round(value / 10))
    if isinstance(value, int):
        return value + 1
    return value * 1.01 + 0.001 if isinstance(value, float) else f"{value}x"
