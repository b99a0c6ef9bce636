from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb.memory.designs.openclaw.config import OpenClawDreamingConfig
from harness_nb.memory.designs.openclaw.dreaming import (
    Night,
    confidence,
    diary,
    dreamt,
    is_there,
    lines_of,
    promotion,
    with_promotion,
)
from harness_nb.memory.designs.openclaw.evidence import Evidence, evidence_of

NOW = datetime(2026, 4, 12, 3, tzinfo=UTC)
FACT = "Deploys of the payment service happen every Tuesday morning"
SECTION = "## Promoted on 2026-04-12\n- b <!-- promoted k2 score=0.9 from=x#1 -->\n"


def note(folder: Path, text: str, now: datetime = NOW) -> None:
    path = folder / "memory" / f"{now:%Y-%m-%d}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def night(folder: Path, known: dict[str, Evidence] | None = None, now: datetime = NOW, **settings: Any) -> Night:
    return dreamt(folder, known or {}, now, OpenClawDreamingConfig(**settings))


# Reading


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Heading\n\n- first point\n- second point\n", [(3, "first point"), (4, "second point")]),
        ("one of a\nparagraph\n\nanother one", [(1, "one of a paragraph"), (4, "another one")]),
        ("\n".join(f"sentence {at}" for at in range(6)), [(1, "sentence 0 sentence 1 sentence 2 sentence 3"), (5, "sentence 4 sentence 5")]),
        ("short\n\n- a\n", []),
        ("1. numbered one <!-- source: x -->\n", [(1, "numbered one")]),
        ("x" * 400, [(1, "x" * 280)]),
        ("", []),
    ],
)  # fmt: skip
def test_a_note_is_read_in_points_and_paragraphs(text: str, found: list[tuple[int, str]]) -> None:
    assert [(one.number, one.text) for one in lines_of("n", text)] == found


# A night


def test_a_line_gets_one_signal_a_night(workspace: Path) -> None:
    note(workspace, f"- {FACT}\n- user: do as I say\n")
    first = night(workspace)
    (one,) = first.evidence.values()
    assert (one.daily, one.average, one.light_hits) == (1, 0.62, 1) and first.staged[0].snippet == FACT
    (again,) = night(workspace, first.evidence, NOW + timedelta(hours=2)).evidence.values()
    assert again.daily == 1
    (later,) = night(workspace, first.evidence, NOW + timedelta(days=1)).evidence.values()
    assert (later.daily, len(later.days)) == (2, 2)


def test_what_recurs_is_promoted_once_after_several_nights(workspace: Path) -> None:
    note(workspace, f"- {FACT}\n")
    known: dict[str, Evidence] = {}
    promoted = []
    for day in range(7):
        one = night(workspace, known, NOW + timedelta(days=day))
        known = one.evidence
        promoted.append(len(one.promoted))
    assert sum(promoted) == 1 and promoted[:3] == [0, 0, 0]


def test_a_line_that_is_gone_from_its_note_is_not_promoted(workspace: Path) -> None:
    note(workspace, f"- {FACT}\n")
    known = night(workspace).evidence
    settings = {"deep_min_score": 0, "deep_min_signals": 1, "deep_min_queries": 1}
    assert len(night(workspace, known, **settings).promoted) == 1
    note(workspace, "- something else entirely\n")
    assert all(one.snippet != FACT for one, _ in night(workspace, known, **settings).promoted)
    assert not is_there(workspace, next(iter(known.values())))


def test_lines_that_say_the_same_are_staged_once_and_a_theme_is_what_many_share(workspace: Path) -> None:
    note(
        workspace, "- database backup runs nightly\n- Database backup runs nightly!\n- database migration is planned\n"
    )
    found = night(workspace)
    assert len(found.staged) == 2
    assert dict(found.themes)["database"] == 1
    assert night(workspace, light_limit=1).staged == found.staged[:1]
    assert night(workspace, rem_limit=0).themes == ()


def test_some_lines_are_held_for_true() -> None:
    one = evidence_of("memory/2026-04-12.md", 1, FACT)
    assert confidence(one) < 0.45
    for day in range(3):
        one = one.seen("recalls", f"q{day}", 0.9, NOW + timedelta(days=day))
    assert confidence(one) > 0.9


# MEMORY.md


def test_a_promotion_says_where_it_comes_from() -> None:
    one = evidence_of("memory/2026-04-12.md", 4, FACT)
    text = promotion([(one, 0.8512)], NOW, OpenClawDreamingConfig(snippet_tokens=5))
    assert (
        text == f"## Promoted on 2026-04-12\n- {FACT[:20]} <!-- promoted {one.key} score=0.851 from={one.path}#4 -->\n"
    )


def test_what_is_there_already_is_not_promoted_again() -> None:
    once = with_promotion("# Facts\n\n- mine\n", SECTION, 10_000)
    assert once == f"# Facts\n\n- mine\n\n{SECTION}"
    assert with_promotion(once, SECTION, 10_000) == once
    assert with_promotion("", SECTION, 10_000) == SECTION


def test_only_the_oldest_promotions_give_way_to_the_budget() -> None:
    old = "".join(
        f"## Promoted on 2026-0{month}-01\n- old {month} <!-- promoted o{month} score=0.9 from=x#1 -->\n\n"
        for month in (2, 1, 3)
    )
    mine = "# Mine\n\n" + "word " * 30 + "\n\n"
    text = with_promotion(f"{old}{mine}", SECTION, len(mine) + len(SECTION) + 150)
    assert "old 1" not in text and "old 2" not in text and "old 3" in text and mine.strip() in text and SECTION in text
    tight = with_promotion(f"{old}{mine}", SECTION, 10)
    assert "old" not in tight and mine.strip() in tight and SECTION in tight


def test_the_diary_tells_what_happened() -> None:
    one = evidence_of("memory/2026-04-12.md", 1, FACT)
    text = diary(
        Night(evidence={}, staged=(one,), themes=(("payment", 0.8),), truths=(one,), promoted=((one, 0.9),)), NOW
    )
    assert "Staged 1 lines" in text and "theme: payment (0.80)" in text and f"proposed (0.90): {FACT}" in text
