"""What running recordings brought: counts by system and kind, and each failure with the two sides beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import to_json
from harness_nb.lab.conformance.cases import Case
from harness_nb.lab.conformance.compare import Difference
from harness_nb.lab.conformance.runner import CaseResult

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card, Table

_MOST_FAILURES = 30
_MOST_DIFFERENCES = 12


@dataclass(frozen=True, slots=True)
class Share:
    """Passed and failed cases of one group.

    Attributes:
        system: Name of the system.
        kind: Group, or `compaction` or `memory` for all groups of that sort.
        passed: Cases that passed.
        failed: Cases that did not.
    """

    system: str
    kind: str
    passed: int
    failed: int

    @property
    def share(self) -> float:
        """Part that passed, 0 to 1."""
        return self.passed / (self.passed + self.failed)


@dataclass(frozen=True, slots=True, repr=False)
class ConformanceReport:
    """Results of some recordings.

    Attributes:
        results: One for each case, in order.
    """

    results: tuple[CaseResult, ...]

    def __repr__(self) -> str:
        return f"ConformanceReport({len(self.results) - len(self.failures)} passed, {len(self.failures)} failed)"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self.card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import card_bundle

        return card_bundle(self.card())

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """Cases that did not pass."""
        return tuple(one for one in self.results if not one.passed)

    @property
    def passed(self) -> bool:
        """True when every case passed."""
        return not self.failures

    @property
    def by_kind(self) -> tuple[Share, ...]:
        """Passed and failed by system and kind, in the order of the recordings."""
        return self._shares(lambda case: case.kind)

    @property
    def by_sort(self) -> tuple[Share, ...]:
        """Passed and failed by system, for `compaction` and for `memory`."""
        return self._shares(lambda case: case.sort)

    def _shares(self, group: Callable[[Case], str]) -> tuple[Share, ...]:
        counts: dict[tuple[str, str], Counter[bool]] = {}
        for one in self.results:
            counts.setdefault((one.case.system, group(one.case)), Counter())[one.passed] += 1
        return tuple(Share(system, kind, count[True], count[False]) for (system, kind), count in counts.items())

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping of plain values for each case."""
        return [
            {
                "id": one.case.id,
                "system": one.case.system,
                "kind": one.case.kind,
                "note": one.case.note,
                "passed": one.passed,
                "why": one.why,
                "differences": tuple(difference.place for difference in one.differences),
                "expected": to_json(one.case.expect),
                "actual": to_json(one.actual),
            }
            for one in self.results
        ]

    @property
    def df(self) -> DataFrame:
        """One row for each case; columns `frames.columns.CONFORMANCE`."""
        from harness_nb.frames import conformance_frame

        return conformance_frame(self.records)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line of JSON for each case: id, system, kind, passed, actual."""
        return tuple(to_json(one.line) for one in self.results)

    def card(self) -> Card:
        """What it shows of itself."""
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count, percent

        head = ("system", "kind", "passed", "failed")
        sums = [f"{one.system} {one.kind} {percent(one.share)}" for one in self.by_sort]
        rows = [(one.system, one.kind, one.passed, one.failed) for one in self.by_kind]
        line = f"{count(len(self.results), 'case')}, {len(self.failures):,} failed · {' · '.join(sums)}"
        shown = [_beside(one) for one in self.failures[:_MOST_FAILURES]]
        left = len(self.failures) - len(shown)
        notes = (f"and {left:,} more failures; .df has them all",) if left else ()
        table = Table.of(head, rows, most=len(rows), noun="kind")
        return Card("Conformance with recordings", line, (table, *shown), notes)


def _beside(one: CaseResult) -> Table:
    """A failure: what was expected and what came, beside each other, where they differ."""
    from harness_nb.render.card import Table

    caption = f"{one.case.id} ({one.case.kind})" + (f": {one.case.note}" if one.case.note else "")
    if one.error:
        return Table.of(("", "what happened"), [("error", one.error)], caption=caption)
    rows = [_row(difference) for difference in one.differences]
    head = ("where", "expected", "actual")
    return Table.of(head, rows, most=_MOST_DIFFERENCES, noun="difference", caption=caption)


def _row(difference: Difference) -> tuple[str, str, str]:
    return difference.place, _written(difference.expected), _written(difference.actual)


def _written(value: object) -> str:
    return to_json(value) if isinstance(value, Mapping | list | str | int | float | None) else repr(value)
