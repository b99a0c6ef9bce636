from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness_nb.store.stem import stem

ENDINGS = [
    "s",
    "es",
    "ies",
    "sses",
    "ed",
    "eed",
    "ing",
    "y",
    "ational",
    "tional",
    "enci",
    "anci",
    "izer",
    "logi",
    "bli",
    "alli",
    "entli",
    "eli",
    "ousli",
    "ization",
    "ation",
    "ator",
    "alism",
    "iveness",
    "fulness",
    "ousness",
    "aliti",
    "iviti",
    "biliti",
    "icate",
    "ative",
    "alize",
    "iciti",
    "ical",
    "ful",
    "ness",
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "ion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "e",
    "ll",
]
LETTERS = st.text("abcdeilmnostuyz", min_size=1, max_size=6)
WORDS = st.builds(str.__add__, LETTERS, st.sampled_from(["", *ENDINGS]))


def stems_of_sqlite(words: Iterable[str]) -> list[str]:
    raw = sqlite3.connect(":memory:")
    try:
        raw.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61 remove_diacritics 2')")
        raw.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        raw.executemany("INSERT INTO t (body) VALUES (?)", [(word,) for word in words])
        return [row[0] for row in raw.execute("SELECT term FROM v ORDER BY doc")]
    finally:
        raw.close()


@example(["ies", "sses", "ses", "sss", "ties", "asses", "eed", "ization", "ated", "ator", "ion", "ement"])
@given(st.lists(WORDS, min_size=1, max_size=300))
def test_stems_are_those_that_sqlite_makes(words: list[str]) -> None:
    assert [stem(word) for word in words] == stems_of_sqlite(words)


@pytest.mark.parametrize(
    ("words", "common"),
    [
        ("migration migrations migrate migrated migrating", "migrat"),
        ("happy happiness", "happi"),
        ("hopping hopped hops", "hop"),
        ("relational relate", "relat"),
        ("ran", "ran"),
        ("résumé", "résumé"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: str, common: str) -> None:
    assert {stem(word) for word in words.split()} == {common}
