from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.policies.picoclaw.assembling import Assembled, assemble, hint_for
from tests.policies.picoclaw.talks import chat, indices, items, loop
from tests.policies.picoclaw.test_tree import ids, node

EACH = 100  # tokens of a message of 238 characters


def sent(found: Sequence[Item], budget: int, fresh_tail: int = 4) -> Assembled:
    return assemble(found, budget=budget, fresh_tail=fresh_tail)


def test_all_is_sent_when_it_fits() -> None:
    found = sent(items(chat(5, 238)), 1_000)
    assert (len(found.items), found.tokens, found.budget) == (10, 1_000, 1_000)


def test_older_items_are_sent_newest_first_until_one_does_not_fit() -> None:
    assert indices(sent(items(chat(5, 238)), 650).items) == list(range(4, 10))


def test_a_summary_may_have_to_go_too() -> None:
    assert ids(sent([node(1), node(2), *items(chat(2, 238))], 500).items) == ["s2"]


def test_newest_items_that_do_not_fit_are_cut_to_a_start_that_a_provider_takes() -> None:
    said = items([*loop(3, 214), Message.assistant("so"), *chat(1)])
    assert indices(sent(said, 200, fresh_tail=10).items) == [7, 8, 9]


def test_after_such_a_cut_older_items_may_come_back_behind_a_hole() -> None:
    said = items([*chat(2, 10), *loop(2, 400), Message.user("now")])
    assert indices(sent(said, 80, fresh_tail=6).items) == [0, 1, 2, 3, 9]


def test_a_turn_in_progress_that_is_too_long_is_sent_alone() -> None:
    found = sent(items([*chat(3), *loop(2, 4_000)]), 500, fresh_tail=8)
    assert found.keeps_turn and indices(found.items) == [6, 7, 8, 9, 10]


def test_the_hint_is_strong_for_deep_or_many_condensed_nodes() -> None:
    assert hint_for(items(chat(1))) is None
    assert hint_for([node(1), node(2, depth=1)]) == "mild"
    assert hint_for([node(1, depth=1), node(2, depth=1)]) == "strong"
    assert hint_for([node(1, depth=2)]) == "strong"
