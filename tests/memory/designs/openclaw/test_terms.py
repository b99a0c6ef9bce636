from __future__ import annotations

import pytest

from harness_nb.memory.designs.openclaw.terms import Terms, fallback_terms, terms_of


@pytest.mark.parametrize(
    ("question", "match"),
    [
        ("What was it?", '"What" AND "was" AND "it"'), ("re-use api_key", '"re" AND "use" AND "api_key"'),
        ('say "x" OR y', '"say" AND "x" AND "OR" AND "y"'), ("?!", None), ("", None), ("数据库", '"数据库"'),
    ],
)  # fmt: skip
def test_each_word_is_quoted_and_all_must_be_there(question: str, match: str | None) -> None:
    assert terms_of(question) == Terms(match) and terms_of(question).is_empty is (match is None)


def test_words_may_be_alternatives() -> None:
    assert terms_of("a b", join="or").match == '"a" OR "b"'


def test_trigrams_look_for_short_words_of_east_asia_as_they_are() -> None:
    assert terms_of("成语 deployment ab", "trigram") == Terms('"deployment" AND "ab"', ("成语",))
    assert terms_of("成语", "trigram") == Terms(None, ("成语",)) and not terms_of("成语", "trigram").is_empty


def test_keywords_are_tried_when_a_question_finds_nothing() -> None:
    assert fallback_terms("What was the decision about the database?") == ["decision", "database"]
    assert fallback_terms("database") == []
    assert len(fallback_terms("alpha beta gamma delta epsilon zeta eta theta")) == 6
