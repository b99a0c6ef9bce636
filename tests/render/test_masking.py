"""Keys are masked wherever something is shown, before a text is cut."""

from __future__ import annotations

import pytest

from harness_nb.render.card import Card, Pre, Table, card_html, card_text
from harness_nb.render.masking import without_known
from harness_nb.render.results import reply_bundle
from harness_nb.render.text import clip

KEY = "sk-test-abcdefghijklmnop1234"


def test_a_key_is_in_no_form_of_a_card() -> None:
    card = Card(KEY, KEY, (Pre(KEY, KEY), Table.of((KEY,), [(KEY,)])), (KEY,))
    assert KEY not in card_html(card) + card_text(card)


def test_a_key_is_masked_before_it_is_cut() -> None:
    assert "sk-test" not in clip("x" * 90 + " " + KEY, 100)


def test_a_key_of_any_shape_is_known_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", "plain&ordinary")
    card = Card("", "it is plain&ordinary here")
    assert "plain" not in card_html(card).partition("</style>")[2] + card_text(card)
    assert "[redacted: known key]" in without_known("plain&ordinary")
    assert "ordinary" not in str(reply_bundle("plain&ordinary"))


def test_a_text_without_a_key_is_shown_as_it_is() -> None:
    assert reply_bundle("just words")["text/plain"] == "just words"
