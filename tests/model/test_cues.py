from __future__ import annotations

import pytest

from harness_nb.model.cues import is_constraint, is_standing, says_little


@pytest.mark.parametrize(
    "said",
    [
        "Always give versions when I ask about packages.",
        "Please never push to main.",
        "From now on, answer in German.",
        "And whenever you plot, label the axes.",
        "Don't ever touch the raw files.",
        "必ずテストを書いてください。",
    ],
)
def test_standing_instructions_are_recognised(said: str) -> None:
    assert is_standing(said)


@pytest.mark.parametrize(
    "said", ["Should I always use tabs?", "She always sings.", "It never rains here.", "Never mind?"]
)
def test_other_sentences_with_their_words_are_none(said: str) -> None:
    assert not is_standing(said)


@pytest.mark.parametrize(
    "said", ["It must run within 2 seconds.", "I prefer tabs, can you change it?", "My limit is a budget of $200."]
)
def test_constraints_are_recognised_in_requests_too(said: str) -> None:
    assert is_constraint(said)


def test_introductions_say_little() -> None:
    assert (
        says_little("Here's the new version:") and says_little("**Key points:**") and says_little("Thanks, that helps.")
    )
    assert not says_little("The key is in vault/prod.yaml.")
