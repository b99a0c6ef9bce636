from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from harness_nb.core.item import Item, ModelInput, covered
from harness_nb.core.messages import Message
from tests.strategies import model_inputs

A, B, C = Message.user("a"), Message.assistant("bb"), Message.user("ccc")


def length(message: Message) -> int:
    return len(message.text)


def items(*messages: Message) -> list[Item]:
    return [Item(index, message) for index, message in enumerate(messages)]


@given(model_inputs())
def test_a_model_input_is_a_sequence_of_its_items_with_their_sums(made: ModelInput) -> None:
    assert list(made) == list(made[:])
    assert list(reversed(made)) == list(made[::-1])
    assert tuple(made.messages) == tuple(item.message for item in made)
    assert made.sums(length) == made.messages.sums(length)


def test_branches_of_a_model_input_do_not_see_each_other() -> None:
    one, two, three = items(A, B, C)
    stem = ModelInput([one])

    left, right = stem.append(two), stem.append(three)

    assert (stem[:], left[:], right[:]) == ((one,), (one, two), (one, three))
    assert (stem.sums(length), left.sums(length), right.sums(length)) == ((0, 1), (0, 1, 3), (0, 1, 4))
    assert left != right and left == ModelInput([one, two]) and hash(left) == hash(ModelInput([one, two]))
    assert stem != [one]
    with pytest.raises(IndexError):
        stem[1]
    assert (left[-1], stem[-1]) == (two, one)


def test_a_model_input_shows_its_length_only() -> None:
    assert repr(ModelInput(items(A, B))) == "ModelInput(2 items)"


@given(model_inputs())
def test_a_model_input_survives_pickling_after_it_was_measured(made: ModelInput) -> None:
    made.sums(lambda message: 1)

    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301


def test_an_item_knows_every_message_it_shows_or_stands_for() -> None:
    shown, summary = Item(3, A, "merged", (1, 2)), Item(None, B, "summary", (4, 5), {"failed": "blank"})

    assert (shown.indices, summary.indices, Item(7, C).indices) == ((1, 2, 3), (4, 5), (7,))
    assert covered([shown, summary, Item(4, B)]) == (1, 2, 3, 4, 5)
    assert (summary.failed, summary.assumed, shown.failed) == (True, False, False)


@pytest.mark.parametrize(
    ("item", "real"),
    [
        (Item(0, A), True),
        (Item(0, B), False),
        (Item(None, A), False),
        (Item(0, Message.user("note", origin="harness")), False),
    ],
)
def test_a_real_user_message_is_what_a_person_said(item: Item, real: bool) -> None:
    assert item.is_real_user is real


def test_what_begins_an_input_goes_on_sharing_its_items_as_long_as_they_are_the_same() -> None:
    items = [Item(at, Message.user(str(at))) for at in range(4)]
    whole = ModelInput(items)
    grown = whole.first(1).append(Item(1, items[1].message)).append(items[2])
    other = whole.first(1).append(items[3])
    assert grown[1] is items[1] and grown.begins(whole) and whole.first(0).begins(grown)
    assert (list(other), other.begins(whole), len(whole)) == ([items[0], items[3]], False, 4)
    assert [message.text for message in other.messages] == ["0", "3"]
