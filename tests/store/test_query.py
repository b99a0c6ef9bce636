from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.store.query import LONGEST_QUERY, MOST_WORDS, all_of, any_of, like_pattern, parse_query, searchable


@pytest.mark.parametrize("text", ["", "   ", "\n", "!!!", None, '""', "- + = $", "\0"])
def test_r065_blank_and_punctuation_only_texts_have_no_words(text: str | None) -> None:
    assert parse_query(text).words == ()


def test_words_are_taken_apart_at_white_space_only() -> None:
    assert parse_query("don't state-of-the-art C:\\data\u3000x").words == ("don't", "state-of-the-art", "C:\\data", "x")


def test_r066_a_phrase_in_a_pair_of_quotes_is_one_word() -> None:
    assert parse_query('say "alpha beta" now').words == ("say", "alpha beta", "now")
    assert parse_query("“alpha beta”").words == ("alpha beta",)


def test_quotes_that_enclose_no_phrase_are_text() -> None:
    assert parse_query('5" x').words == ('5"', "x")
    assert all_of(parse_query('5" x').telling) == '"5 " AND "x"'


def test_frequent_words_tell_only_where_there_are_no_others() -> None:
    query = parse_query("What is the migration plan, and what's Ada's or the dogs' one? Don't")
    assert query.telling == ("migration", "plan,", "Ada", "dogs", "one?")
    assert any_of(query.telling[:2]) == '"migration" OR "plan,"'
    assert parse_query("what is the").telling == ("what", "is", "the")
    assert parse_query('"to be" is').telling == ("to be",)


def test_a_word_without_letters_or_digits_is_looked_for_as_part_only() -> None:
    assert parse_query("🔬 x").telling == ("x",)
    assert parse_query("🔬").telling == ()
    assert parse_query("🔬").parts == ("🔬",)


def test_characters_of_unspaced_scripts_stand_apart_in_the_searchable_form() -> None:
    assert searchable("更新run-kappa后").split() == ["更", "新", "run-kappa", "后"]
    assert searchable("실험을").split() == ["실", "험", "을"]
    assert searchable("ﬁne Ｘ") == "fine X"


def test_a_text_in_searchable_form_comes_back_as_the_same_object() -> None:
    text = "plain ascii"
    assert searchable(text) is text


def test_very_long_texts_are_cut_at_a_word() -> None:
    query = parse_query("word " * 10_000 + " ".join(str(n) for n in range(1000)))
    assert query.words == ("word",)
    assert len(parse_query(" ".join(str(n) for n in range(1000))).words) == MOST_WORDS
    assert len(parse_query("x" * 1_000_000).words[0]) == LONGEST_QUERY


def test_signs_of_patterns_are_text() -> None:
    assert like_pattern(r"50%_\x") == r"%50\%\_\\x%"


@given(st.text())
def test_r064_any_text_makes_legal_queries(text: str) -> None:
    query = parse_query(text)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(body)")
        for expression in (all_of(query.telling), any_of(query.telling)):
            if expression:
                connection.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()
    finally:
        connection.close()
