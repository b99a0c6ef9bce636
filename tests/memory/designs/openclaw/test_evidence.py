from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb.memory.designs.openclaw.config import OpenClawDreamingConfig
from harness_nb.memory.designs.openclaw.evidence import Evidence, EvidenceFile, evidence_of, passes, score

NOW = datetime(2026, 4, 12, tzinfo=UTC)


def line(signals: int, average: float, days: list[int], tags: int, *, age: float = 0, **values: Any) -> Evidence:
    kind = values.pop("kind", "recalls")
    return Evidence(
        key="k", path="memory/2026-04-12.md",
        total_score=average * signals,
        queries=tuple(map(str, range(values.pop("queries", signals)))),
        days=tuple((NOW - timedelta(days=back)).date().isoformat() for back in days),
        tags=tuple("t" * at for at in range(tags)),
        last_seen=(NOW - timedelta(days=age)).isoformat(), **{kind: signals}, **values,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "value"),
    [
        (line(1, 0.9, [0], 3), 0.569),
        (line(3, 0.9, [0], 3), 0.699),
        (line(3, 0.9, [2, 1, 0], 3), 0.729),
        (line(5, 0.85, [7, 5, 3, 1, 0], 4), 0.874),
        (line(10, 0.85, [7, 5, 3, 1, 0], 6), 0.955),
        (line(10, 0.85, [7, 5, 3, 1, 0], 6, age=14), 0.880),
        (line(7, 0.62, [6, 5, 4, 3, 2, 1, 0], 6, kind="daily"), 0.848),
    ],
)
def test_what_speaks_for_a_line_is_a_number(one: Evidence, value: float) -> None:
    assert score(one, NOW, 14) == pytest.approx(value, abs=0.006)


def test_nights_add_a_little_that_fades() -> None:
    bare = line(3, 0.9, [0], 3)
    dreamt = line(3, 0.9, [0], 3, light_hits=6, rem_hits=6, dreamt_at=NOW.isoformat())
    faded = line(3, 0.9, [0], 3, light_hits=6, rem_hits=6, dreamt_at=(NOW - timedelta(days=14)).isoformat())
    more = [score(one, NOW, 14) - score(bare, NOW, 14) for one in (dreamt, faded)]
    assert more == [pytest.approx(0.15), pytest.approx(0.075)]


@pytest.mark.parametrize(
    ("one", "settings", "is_able"),
    [
        (line(5, 0.85, [7, 5, 3, 1, 0], 4), {}, True),
        (line(3, 0.9, [2, 1, 0], 3), {}, False),
        (line(3, 0.9, [2, 1, 0], 3), {"deep_min_score": 0.7}, True),
        (line(2, 0.9, [2, 1, 0], 3), {"deep_min_score": 0}, False),
        (line(3, 0.9, [0], 3, queries=1), {"deep_min_score": 0}, False),
        (line(5, 0.85, [7, 5, 3, 1, 0], 4, age=31), {"deep_min_score": 0}, False),
        (line(5, 0.85, [7, 5, 3, 1, 0], 4, promoted_at="2026-04-01"), {}, False),
        (line(7, 0.62, [6, 5, 4, 3, 2, 1, 0], 6, kind="daily"), {}, True),
        (line(7, 0.62, [6, 5, 4, 3, 2, 1, 0], 6, kind="daily"), {"promotion_evidence": "recalls"}, False),
    ],
)
def test_a_line_must_pass_every_gate(one: Evidence, settings: dict[str, Any], is_able: bool) -> None:
    assert passes(one, NOW, OpenClawDreamingConfig(**settings)) is is_able


def test_signals_are_gathered_within_bounds() -> None:
    one = evidence_of("memory/2026-04-12.md", 3, "Deploys  happen on\nTuesday")
    assert (one.snippet, one.line, one.average, one.signals) == ("Deploys happen on Tuesday", 3, 0, 0)
    for at in range(50):
        one = one.seen("recalls", f"query {at}", 0.5, NOW + timedelta(days=at))
    assert (one.recalls, len(one.queries), len(one.days), one.average) == (50, 32, 16, 0.5)
    assert one.knows("QUERY 49 ") and not one.knows("query 1") and one.breadth == 32
    assert one.key == evidence_of("memory/2026-04-12.md", 9, "deploys happen on tuesday").key


def test_evidence_is_kept_in_a_file_and_what_can_not_be_read_is_gathered_anew(tmp_path: Path) -> None:
    file = EvidenceFile(tmp_path / "a" / "recall.json")
    assert file.read() == {}
    one = evidence_of("memory/2026-04-12.md", 1, "数据库迁移").seen("grounded", "q", 1, NOW)
    file.write([one])
    assert file.read() == {one.key: one}
    for broken in ("{", "[1]", '[{"path": "x"}]', "{}"):
        file.path.write_text(broken, encoding="utf-8")
        assert file.read() == {}


def test_the_lines_seen_last_are_kept(tmp_path: Path) -> None:
    file = EvidenceFile(tmp_path / "recall.json")
    file.write(Evidence(key=f"{at:04}", path="x", last_seen=f"{at:04}") for at in range(600))
    assert sorted(file.read()) == [f"{at:04}" for at in range(88, 600)]
