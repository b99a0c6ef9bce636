"""The recordings themselves: how many pass, and that none passes once a recorded value is changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb import conformance
from harness_nb.lab.conformance.compare import differences
from harness_nb.lab.conformance.report import ConformanceReport
from harness_nb.lab.conformance.runner import known_systems
from tests.lab.conformance.recordings import changeable, changed

pytestmark = pytest.mark.data

LEAST = {"compaction": 0.95, "memory": 0.90}
CHANGES = 200


@pytest.fixture(scope="module")
def reports(data: Path) -> Iterator[dict[str, ConformanceReport]]:
    """What came of the recordings of each system that has an adapter."""
    folder = data / "conformance"
    yield {name: conformance(folder / f"{name}.jsonl") for name in known_systems()}


@pytest.mark.parametrize("system", known_systems())
def test_a_preset_does_what_its_system_was_recorded_doing(system: str, reports: dict[str, ConformanceReport]) -> None:
    report = reports[system]
    assert report.results
    for one in report.by_sort:
        failed = [f"{bad.case.id}: {bad.why}" for bad in report.failures]
        assert one.share >= LEAST[one.kind], f"{one}\n" + "\n".join(failed)


def test_a_case_fails_once_any_recorded_value_is_changed(reports: dict[str, ConformanceReport]) -> None:
    chance = random.Random(7)
    passing = [one for report in reports.values() for one in report.results if one.passed]
    kinds = sorted({(one.case.system, one.case.kind) for one in passing})
    by_kind = {kind: [one for one in passing if (one.case.system, one.case.kind) == kind] for kind in kinds}
    unnoticed = []
    for number in range(max(CHANGES, len(kinds))):
        of_kind = [one for one in by_kind[kinds[number % len(kinds)]] if changeable(one.case.expect)]
        if not of_kind:
            continue
        one = chance.choice(of_kind)
        path, expect = changed(one.case.expect, chance)
        if not differences(expect, one.actual):
            unnoticed.append((one.case.id, path))
    assert unnoticed == []


def test_every_kind_of_the_recordings_is_run(reports: dict[str, ConformanceReport]) -> None:
    for system, report in reports.items():
        assert all(one.passed + one.failed > 0 for one in report.by_kind), system
        assert all(one.error == "" for one in report.results if one.passed)
