from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_nb import conformance
from harness_nb.errors import ConfigError
from harness_nb.lab.conformance.cases import read_cases
from harness_nb.lab.conformance.runner import adapter_of, known_systems, run_case
from tests.lab.conformance.recordings import as_lines, case


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a case that passes, one that fails, one that breaks, and one of an unknown system."""
    wrong = case(id="wrong", kind="tier1", expect={"status": "truncated", "output": [], "model_calls": 0})
    broken = case(id="broken", config={}, expect={"status": "noop", "tier": 0})
    unknown = case(id="unknown", system="nobody", expect={"status": "noop"})
    path = tmp_path / "cases.jsonl"
    path.write_text(as_lines(case(), wrong, broken, unknown), encoding="utf-8")
    return path


def test_a_case_passes_when_everything_came_as_recorded_and_fails_otherwise(file: Path) -> None:
    report = conformance(file)
    assert [one.passed for one in report.results] == [True, False, False, False]
    assert not report.passed and [one.case.id for one in report.failures] == ["wrong", "broken", "unknown"]
    assert report.results[1].why.startswith("status: expected 'truncated', got 'noop' and 1 more")


def test_a_case_that_can_not_be_run_ends_no_other_and_says_why(file: Path) -> None:
    broken, unknown = conformance(file).results[2:]
    assert "KeyError" in broken.why and broken.actual == {"status": None, "tier": None}
    assert "no adapter for the system 'nobody'" in unknown.why


def test_the_outcome_has_the_keys_of_what_was_recorded(file: Path) -> None:
    for one in conformance(file).results:
        assert list(one.actual) == list(one.case.expect)


def test_every_case_is_one_line_of_json(file: Path) -> None:
    lines = [json.loads(line) for line in conformance(file).lines]
    assert [list(line) for line in lines] == [["id", "system", "kind", "passed", "actual"]] * 4
    assert lines[0]["actual"]["output"] == [{"kind": "verbatim", "index": 1}]


def test_systems_and_kinds_can_be_chosen(file: Path) -> None:
    assert [one.case.id for one in conformance([file], systems=["eney"], kinds=["tier1"]).results] == ["wrong"]
    with pytest.raises(ConfigError, match="'nobody' is no recorded system"):
        conformance(file, systems=["nobody"])


@pytest.mark.parametrize("name", ["../eney", "os", "", "Eney", "eney.x", "__init__"])
def test_only_adapters_are_loaded_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match="no adapter"):
        adapter_of(name)


def test_adapters_are_found_by_their_modules() -> None:
    assert {"agentscope", "eney"} <= set(known_systems())


def test_the_report_shows_counts_and_the_two_sides_of_each_failure(file: Path) -> None:
    report = conformance(file)
    text = str(report)
    assert "4 cases, 3 failed" in text and "eney" in text and "wrong (tier1): made up" in text
    assert '"truncated"' in text and '"noop"' in text and "KeyError" in text
    html = report._repr_mimebundle_()["text/html"]
    assert "wrong (tier1)" in html and "&quot;truncated&quot;" in html
    assert repr(report) == "ConformanceReport(1 passed, 3 failed)"
    assert {(one.system, one.kind): (one.passed, one.failed) for one in report.by_sort} == {
        ("eney", "compaction"): (1, 2),
        ("nobody", "compaction"): (0, 1),
    }
    assert [one.share for one in report.by_kind] == [0.5, 0.0, 0.0]


def test_the_report_is_a_frame(file: Path) -> None:
    from harness_nb.frames import columns, conformance_frame

    frame = conformance(file).df
    assert list(frame.columns) == [column.name for column in columns.CONFORMANCE]
    assert frame["passed"].tolist() == [True, False, False, False]
    assert json.loads(frame["expected"][1])["status"] == "truncated"
    assert list(conformance_frame([]).columns) == list(frame.columns)


def test_a_report_without_cases_shows_itself(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    report = conformance(str(empty))
    assert report.passed and "0 cases, 0 failed" in str(report)


def test_what_comes_of_a_case_depends_on_what_it_gives_alone(tmp_path: Path) -> None:
    renamed = case(id="other", kind="tier3", note="another", expect={"status": "compressed", "output": []})
    path = tmp_path / "cases.jsonl"
    path.write_text(as_lines(case(), renamed), encoding="utf-8")
    first, second = map(run_case, read_cases([path]))
    assert first.actual["output"] == second.actual["output"] and second.actual["status"] == "noop"
