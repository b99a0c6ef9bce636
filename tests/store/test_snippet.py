from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.store.snippet import SNIPPET_CHARS, snippet


@pytest.mark.parametrize(
    ("content", "word", "marked"),
    [
        ("use the state of the art", "state-of-the-art", "use the [state of the art]"),
        ("re\u0301sume\u0301 here", "resume", "[re\u0301sume\u0301] here"),
        ("ein CAFÉ", "cafe", "ein [CAFÉ]"),
        ("昨晚整理了实验记录", "实验", "昨晚整理了[实验]记录"),
        ("更新run-kappa后", "kappa", "更新run-[kappa]后"),
        ("migrations only", "migrating", "[migrations] only"),
        ("a cat in a category", "cat", "a [cat] in a category"),
        ("nothing here", "absent", "nothing here"),
        ("run_kappa", "kappa", "run_[kappa]"),
    ],
)
def test_each_find_is_marked(content: str, word: str, marked: str) -> None:
    assert snippet(content, [word]) == marked


def test_an_excerpt_is_one_line_around_the_first_find_cut_at_spaces() -> None:
    content = "word " * 100 + "needle\n\n" + "word " * 100
    text = snippet(content, ["needle"])
    assert "word [needle] word" in text and text.startswith("… word") and text.endswith("word …")
    assert len(text) <= SNIPPET_CHARS + 6


@given(st.text(max_size=600), st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_an_excerpt_of_anything_is_bounded_and_in_one_line(content: str, words: list[str]) -> None:
    text = snippet(content, words)
    assert len(text) <= 3 * SNIPPET_CHARS + 4 and "\n" not in text


def test_a_large_text_takes_milliseconds() -> None:
    began = time.process_time()
    snippet("é" * 400_000 + " needle", ["needle"])
    assert time.process_time() - began < 2
