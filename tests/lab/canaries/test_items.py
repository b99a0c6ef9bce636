"""What canaries are, and what is seen of them in a context."""

from __future__ import annotations

from harness_nb.core.redact import redact
from harness_nb.lab.canaries.items import KINDS, Canary, Sighting, code_words, made, seen

RULE = Canary(number=1, kind="safety rule", said=("",), required=("bababa-0001", "bababa-0002"))
UPDATE = Canary(
    number=2, kind="updated value", said=("", ""), required=("dadada-0001", "dadada-0003"), stale="dadada-0002"
)
PAIR = Canary(
    number=3,
    kind="near-duplicate pair",
    said=("", ""),
    required=("gagaga-0001", "gagaga-0002", "gagaga-0003", "gagaga-0004"),
    twins=(("gagaga-0001", "gagaga-0002"), ("gagaga-0003", "gagaga-0004")),
)


def test_equal_seeds_give_equal_canaries_and_other_seeds_others() -> None:
    assert made(1, 3) == made(1, 3)
    assert not {word for one in made(1, 3) for word in one.required} & {
        word for one in made(2, 3) for word in one.required
    }


def test_there_are_as_many_of_each_kind_and_no_code_word_twice() -> None:
    found = made(0, 4)
    assert [one.kind for one in found].count("fact") == 4 and len(found) == 4 * len(KINDS)
    words = [word for one in found for word in (*one.required, *filter(None, [one.stale]))]
    assert len(words) == len(set(words))


def test_statements_hold_the_words_that_are_looked_for_and_no_key_that_would_be_masked() -> None:
    for one in made(5, 30):
        text = " ".join(one.said)
        assert code_words(text) == {*one.required, *filter(None, [one.stale])}
        assert redact(text) == text


def test_a_word_that_stands_in_the_conversation_is_not_drawn() -> None:
    first = made(0, 1)[0].required[0]
    assert first not in {word for one in made(0, 1, taken=f"It is {first.upper()}.") for word in one.required}


def test_an_item_survives_only_with_every_required_word() -> None:
    assert seen(RULE, code_words("Never run Bababa-0001 against `bababa-0002`!")).survived
    assert not seen(RULE, code_words("Never run bababa-0001.")).survived
    assert not seen(RULE, code_words("bababa-0001 xbababa-0002 bababa-00021")).survived


def test_a_replaced_value_is_stale_beside_its_replacement_and_misleads_without_it() -> None:
    both = seen(UPDATE, code_words("dadada-0001 is dadada-0002. No: dadada-0001 is dadada-0003."))
    assert both == Sighting(survived=True, shows_stale=True)
    alone = seen(UPDATE, code_words("dadada-0001 is dadada-0002."))
    assert alone == Sighting(survived=False, shows_stale=True, is_misled=True)
    assert seen(UPDATE, code_words("dadada-0001 is dadada-0003.")) == Sighting(survived=True)


def test_a_pair_is_merged_when_only_one_of_it_is_left() -> None:
    one, both = "gagaga-0001 gagaga-0002", "gagaga-0001 gagaga-0002 gagaga-0003 gagaga-0004"
    assert seen(PAIR, code_words(one)) == Sighting(survived=False, is_merged=True)
    assert seen(PAIR, code_words(both)) == Sighting(survived=True)
    assert seen(PAIR, code_words("gagaga-0001 gagaga-0003")) == Sighting(survived=False)
