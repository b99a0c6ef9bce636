from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from harness_nb.model.coverage import BULLET_CHARS, covering, word_worth
from harness_nb.model.reading import Said
from harness_nb.model.statements import Sentence, sentences_of

TEXTS = st.lists(
    st.lists(st.sampled_from(["red", "blue", "stone", "river", "5", "Ada", "is", "not"]), max_size=9).map(" ".join),
    max_size=12,
)


def told(*texts: str, who: str = "user") -> list[Sentence]:
    return sentences_of(Said(who, text) for text in texts)  # type: ignore[arg-type]


def test_rare_words_are_worth_more_than_frequent_ones() -> None:
    worth = word_worth(told("river stone", "river moss", "river fern", "river heron"))
    assert worth["stone"] > worth["river"] / 4


def test_all_messages_of_a_speaker_weigh_the_same() -> None:
    found = told("stone moss", "heron fern owl lynx otter badger")
    worth = word_worth(found)
    assert abs(sum(worth[word] for word in found[0].words) - sum(worth[word] for word in found[1].words)) < 1e-9


def test_what_the_user_said_weighs_twice() -> None:
    found = [*told("stone moss fern"), *told("heron owl lynx", who="assistant")]
    worth = word_worth([found[0], Sentence(**{**_fields(found[1]), "message": 1})])
    assert abs(worth["stone"] - 2 * worth["heron"]) < 1e-9


def _fields(one: Sentence) -> dict[str, object]:
    return {name: getattr(one, name) for name in Sentence.__slots__}


def test_each_subject_is_chosen_before_any_comes_twice() -> None:
    texts = [
        f"The {thing} stands in the {place} of the house."
        for thing in ("piano", "globe")
        for place in ("hall", "attic", "cellar")
    ]
    talk = told(*texts, "The bees live on the roof.")
    kept = covering(talk, word_worth(talk), 150)
    assert any("bees" in one.text for one in kept)
    assert any("piano" in one.text for one in kept) and any("globe" in one.text for one in kept)


def test_all_is_kept_where_all_fits() -> None:
    talk = told("Ada moved from Oslo to Rome in May.", "Grace moved from Rome to Oslo in June.")
    assert covering(talk, word_worth(talk), 10_000) == talk


def test_greetings_and_introductions_come_last() -> None:
    talk = told(
        "Great, the falcon harness works now!",
        "Here is a list of falcon harness makers:",
        "The falcon wears a harness.",
    )
    assert [one.text for one in covering(talk, word_worth(talk), 40)] == ["The falcon wears a harness."]


def test_what_the_reader_sees_anyway_is_not_said_again() -> None:
    talk = told("The falcon wears a harness.", "Bees live on the roof.")
    assert covering(talk, word_worth(talk), 10_000, told=talk[:1]) == talk[1:]


@given(texts=TEXTS, room=st.integers(0, 400), seed=st.integers(0, 9))
def test_choice_fits_keeps_the_order_and_does_not_depend_on_that_of_the_candidates(
    texts: list[str], room: int, seed: int
) -> None:
    talk = told(*texts)
    worth = word_worth(talk)
    kept = covering(talk, worth, room)
    assert sum(len(one.quoted) + BULLET_CHARS for one in kept) <= room
    assert [one.place for one in kept] == sorted({one.place for one in kept})
    shuffled = random.Random(seed).sample(talk, len(talk))
    assert covering(shuffled, worth, room) == kept
