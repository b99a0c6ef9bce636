"""Runs recordings: finds the adapter of a system, lets it act, and compares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from harness_nb.errors import ConfigError
from harness_nb.lab.conformance import systems as adapters
from harness_nb.lab.conformance.cases import Case, Given, read_cases
from harness_nb.lab.conformance.compare import Difference, differences

Adapter = Callable[[Given], Mapping[str, Any]]
"""Lets a system act on what a case gives it, and says what came of it under the keys of the recordings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What came of one case.

    Attributes:
        case: The case.
        actual: What came, with the same keys as `case.expect`.
        differences: Where it is not what was expected.
        error: Why the case could not be run, or empty.
    """

    case: Case
    actual: Mapping[str, Any]
    differences: tuple[Difference, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """True when everything is as expected."""
        return not self.differences and not self.error

    @property
    def line(self) -> dict[str, Any]:
        """The result as one object of JSON Lines."""
        case = self.case
        head = {"id": case.id, "system": case.system, "kind": case.kind, "passed": self.passed}
        return {**head, "actual": dict(self.actual)}

    @property
    def why(self) -> str:
        """The first difference in words, or why it could not be run; empty for a case that passed."""
        if self.error or not self.differences:
            return self.error
        first = self.differences[0]
        more = f" and {len(self.differences) - 1} more" if len(self.differences) > 1 else ""
        return f"{first.place}: expected {first.expected!r}, got {first.actual!r}{more}"


def run_cases(
    paths: Sequence[str | Path], *, names: Iterable[str] | None = None, kinds: Iterable[str] | None = None
) -> Iterable[CaseResult]:
    """Runs the cases of some files one by one.

    Args:
        paths: Files of recordings.
        names: Systems to run; by default all.
        kinds: Kinds to run; by default all.

    Raises:
        TranscriptError: A file is no file of recordings.
        ConfigError: A system was asked for that no adapter is there for.
    """
    wanted = None if names is None else frozenset(names)
    groups = None if kinds is None else frozenset(kinds)
    for name in sorted(wanted or ()):
        if name not in known_systems():
            raise ConfigError(
                f"{name!r} is no recorded system.", f"Use one of {', '.join(known_systems())}.", subject=name
            )
    for case in read_cases(paths):
        if (wanted is None or case.system in wanted) and (groups is None or case.kind in groups):
            yield run_case(case)


def run_case(case: Case) -> CaseResult:
    """Runs one case. A failure of the adapter is the case's, and ends nothing else."""
    try:
        outcome = adapter_of(case.system)(case.given)
        actual = {key: outcome[key] for key in case.expect if key in outcome}
    except Exception as error:  # noqa: BLE001 - whatever fails in one case is said with it, and the others still run
        missing = dict.fromkeys(case.expect)
        return CaseResult(case=case, actual=missing, error=f"{type(error).__name__}: {error}".replace("\n", " "))
    found = differences(case.expect, actual)
    return CaseResult(case=case, actual={key: actual.get(key) for key in case.expect}, differences=found)


def known_systems() -> list[str]:
    """Names of the systems that can be run, as the recordings have them."""
    return sorted(one.name.replace("_", "-") for one in iter_modules(adapters.__path__))


@cache
def adapter_of(system: str) -> Adapter:
    """The adapter of a system: the function `run` of the module in `systems` that has its name.

    Raises:
        ConfigError: There is none.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", system) or system not in known_systems():
        raise ConfigError(
            f"There is no adapter for the system {system!r}.", f"It knows {', '.join(known_systems())}.", subject=system
        )
    run: Adapter = import_module(f"{adapters.__name__}.{system.replace('-', '_')}").run
    return run
