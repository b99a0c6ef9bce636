from __future__ import annotations

import pytest

from harness_nb.memory.overlap import is_said, likeness, says


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ("default solver: DOP853", "default solver changed to DOP853"),
        ("The lab uses Python 3.11 on all machines", "Lab uses Python 3.11"),
        ("项目使用实验记录系统", "实验记录系统"),
        ("C++", "c++"),
    ],
)
def test_an_entry_says_a_fact_whose_words_it_has(entry: str, fact: str) -> None:
    assert says(entry, fact) and is_said(fact, ["something else", entry])


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ("default solver: RK45", "default solver changed to DOP853"),
        ("The server is on port 8080", "The server is on port 9090"),
        ("We do not deploy on Fridays", "We deploy on Fridays"),
        ("Tea", "Zoe runs the lab in Lyon"),
        ("", "anything"),
    ],
)
def test_another_figure_or_a_denial_is_not_the_same(entry: str, fact: str) -> None:
    assert not says(entry, fact) and not is_said(fact, [entry])


def test_versions_of_one_entry_look_alike_and_others_do_not() -> None:
    assert likeness("default solver: RK45", "default solver: DOP853") > 0
    assert likeness("a b", "a b") == 1.0 and likeness("Zoe likes tea", "The budget is 4 kEUR") == 0.0
