"""What waits for curated memory: days, changes with their signs, and what is read without styles."""

from __future__ import annotations

import re

from harness_nb.render.card import card_html, card_text
from harness_nb.render.consolidation import (
    MAX_CHANGES,
    ChangeRow,
    ConsolidationModel,
    LogDay,
    Proposal,
    changes_card,
    consolidation_card,
)

CHANGES = (
    ChangeRow(number=1, kind="changed", before="- solver: RK45", after="- solver: DOP853", sources=("memory/2026-04-12.md#1",)),
    ChangeRow(number=2, kind="added", after="- <b>Ana</b> reviews", is_chosen=False, is_edited=True),
    ChangeRow(number=3, kind="removed", before="- Bo owns the budget", is_lost=True),
    ChangeRow(number=4, kind="moved", before="- same", after="- same", heading="People"),
)  # fmt: skip
MODEL = ConsolidationModel(
    days=(
        LogDay(day="2026-04-11", entries=3, pending=0, tokens=0),
        LogDay(day="2026-04-12", entries=5, pending=2, tokens=40),
    ),
    proposals=(Proposal(number=7, reason="it loses much", changes=CHANGES, missing=("the probe is Kappa",)),),
    memory_tokens=3_120,
    most_tokens=4_000,
    schedule="next merge 10:00 (throttled)",
    versions=6,
)


def stripped(html: str) -> str:
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", html)


def test_one_line_says_all_of_it_in_words() -> None:
    assert MODEL.line == (
        "2 of 8 entries not yet in MEMORY.md · 4 changes to review · next merge 10:00 (throttled) · MEMORY.md 3.1k of 4k tokens"
    )


def test_days_have_their_state() -> None:
    assert [day.state for day in MODEL.days] == ["merged", "pending: 2 new since the last merge"]
    assert LogDay(day="d", entries=1, pending=1, tokens=4).state == "pending"


def test_signs_and_words_carry_the_meaning_and_colours_only_add() -> None:
    text = stripped(card_html(consolidation_card(MODEL)))
    for said in ("− solver: RK45", "+ solver: DOP853", "− Bo owns the budget", "said nowhere else", "edited by you",
                 "[x]", "[ ]", "from memory/2026-04-12.md#1", "moved · below People", "Not in the proposal 7"):  # fmt: skip
        assert said in text, said


def test_text_of_a_candidate_is_never_markup() -> None:
    html = card_html(consolidation_card(MODEL))
    assert "<b>Ana" not in html and "&lt;b&gt;Ana" in html


def test_the_text_form_says_the_same() -> None:
    text = card_text(consolidation_card(MODEL))
    assert "[x]   1 − solver: RK45  + solver: DOP853" in text and "agent.memory.accept(7" in text


def test_many_changes_are_cut_and_counted() -> None:
    many = tuple(ChangeRow(number=n, kind="added", after="x" * 2_000) for n in range(1, 101))
    card = changes_card("Restoring version 3 would change", many)
    assert "100 changes" in card.line and card_html(card).count("<ins>") == MAX_CHANGES


def test_nothing_pending_is_said() -> None:
    assert "0 of 0 entries" in card_text(consolidation_card(ConsolidationModel()))
