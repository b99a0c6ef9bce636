"""LoCoMo's F1 by category, worked out by hand, and what counts as declining."""

from __future__ import annotations

import pytest

from harness_nb.lab.answer_score import DECLINES, answer_f1, declines, token_f1
from harness_nb.lab.datasets import Question


def asked(category: str, answer: str, *, is_answerable: bool = True) -> Question:
    return Question(id="1", text="?", category=category, answer=answer, is_answerable=is_answerable)


def test_words_are_compared_without_case_punctuation_articles_and_endings() -> None:
    assert token_f1("The ADOPTION agencies!", "adoption agency") == 1
    assert token_f1("cats and dogs", "a cat, dog") == 1
    assert token_f1("", "cat") == token_f1("dog", "cat") == token_f1("the", "an") == 0


def test_f1_is_that_of_precision_and_recall() -> None:
    # shared: may, 7; three words given, four wanted: 2 * 2 / (3 + 4)
    assert token_f1("about 7 May", "on 7 May 2023") == pytest.approx(4 / 7)
    # a word counts as often as it stands: shared 1, given 2, wanted 1
    assert token_f1("bee bee", "bee") == pytest.approx(2 / 3)


def test_a_multi_hop_answer_is_the_mean_over_gold_parts_of_the_best_part() -> None:
    # gold parts: pottery -> best 1; camping trip -> best 2/3 (camping); painting -> none
    question = asked("multi-hop", "pottery, camping trip, painting")
    assert answer_f1(question, "camping, pottery") == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert answer_f1(question, "") == 0


def test_an_open_domain_answer_is_held_against_the_first_alternative() -> None:
    assert answer_f1(asked("open-domain", "Liberal; since she votes"), "liberal") == 1


def test_other_answers_are_held_against_the_whole() -> None:
    assert answer_f1(asked("single-hop", "red, blue"), "red") == pytest.approx(2 / 3)


def test_an_adversarial_answer_is_right_when_it_declines() -> None:
    question = asked("adversarial", "", is_answerable=False)
    assert answer_f1(question, DECLINES) == 1
    assert answer_f1(question, "self-care is important") == 0


@pytest.mark.parametrize(
    "answer",
    [
        DECLINES,
        "This is not mentioned in the conversation.",
        "No information available.",
        "There is no mention of a dog.",
        "I don't know.",
        "It can't be determined from the context.",
        "She didn’t say.",
        "Unknown",
        "The chat doesn't really specify that.",
        "That was never mentioned.",
        "The dog's name isn’t given.",
    ],
)
def test_usual_ways_to_decline_are_known(answer: str) -> None:
    assert declines(answer)


@pytest.mark.parametrize("answer", ["7 May 2023", "Nothing but salmon", "She is not a vegan", "No", "Northern Ireland"])
def test_an_answer_is_not_taken_for_declining(answer: str) -> None:
    assert not declines(answer)
