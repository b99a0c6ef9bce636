from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core.item import Item
from harness_nb.policies.picoclaw.config import SeahorseConfig
from harness_nb.policies.picoclaw.nodes import Node, next_id, node_item, node_of, place_of, tokens_of
from harness_nb.policies.picoclaw.tree import candidates, chunk, with_node
from tests.policies.picoclaw.talks import chat, indices, items

CONFIG = SeahorseConfig(fresh_tail=4)


def node(number: int, depth: int = 0, tokens: int = 100, **fields: Any) -> Item:
    made = Node(id=f"s{number}", depth=depth, text=f"text {number}", tokens=tokens, level=1, source_tokens=9, **fields)
    return node_item(made, ())


def ids(found: Sequence[Item]) -> list[str]:
    return [one.id for item in found if (one := node_of(item)) is not None]


def sources(found: Sequence[Item], **settings: Any) -> list[int | None] | None:
    piece = chunk(found, replace(CONFIG, **settings), forced=bool(settings.pop("forced", False)))
    return None if piece is None else indices(piece.items)


# Leaves


def test_a_leaf_takes_the_oldest_messages_that_are_not_among_the_newest() -> None:
    assert sources(items(chat(6))) == list(range(8))
    assert sources(items(chat(6))[:-1]) is None


def test_a_leaf_ends_with_the_message_that_reaches_the_tokens() -> None:
    assert sources(items(chat(10, 238)), leaf_chunk_tokens=900) == list(range(9))


def test_large_messages_at_the_start_block_it_for_ever_unless_the_fault_is_mended() -> None:
    said = items(chat(20, 2_000))
    assert sources(said, leaf_chunk_tokens=2_000) is None
    assert sources(said, leaf_chunk_tokens=2_000, passes_large_head=True) == [0, 1, 2]


def test_by_force_the_newest_are_taken_too() -> None:
    piece = chunk(items(chat(5)), CONFIG, forced=True)
    assert piece is not None and len(piece.items) == 10
    assert chunk(items(chat(3)), CONFIG, forced=True) is None


def test_a_node_ends_a_run_or_begins_it_anew() -> None:
    said = items(chat(12))
    assert sources([*said[:8], node(1), *said[8:]]) == list(range(8))
    assert sources([*said[:3], node(1), *said[3:]]) == list(range(3, 20))


def test_up_to_two_nodes_before_a_leaf_are_its_context() -> None:
    piece = chunk([node(1), node(2), node(3), *items(chat(8))], CONFIG)
    assert piece is not None and [one.id for one in piece.previous] == ["s2", "s3"]


# Condensing


def test_a_row_at_the_start_with_tokens_enough_is_condensed() -> None:
    row = [node(at, tokens=700) for at in range(1, 4)]
    assert ids(candidates([*row, *items(chat(4))], CONFIG)) == ["s1", "s2", "s3"]
    assert candidates([*row[:2], *items(chat(4))], CONFIG) == ()


def test_else_the_first_four_of_the_shallowest_depth_are() -> None:
    old = [node(9, depth=1), *(node(at) for at in range(1, 6))]
    assert ids(candidates([*old, *items(chat(4))], CONFIG)) == ["s1", "s2", "s3", "s4"]
    assert candidates([*old[:4], *items(chat(4))], CONFIG) == ()


def test_a_row_is_no_longer_than_what_a_node_may_stand_for() -> None:
    row = [node(at, tokens=9_000) for at in range(1, 4)]
    assert ids(candidates([*row, *items(chat(4))], CONFIG)) == ["s1", "s2"]


def test_the_newest_items_are_spared() -> None:
    assert candidates([node(at, tokens=3_000) for at in range(1, 5)], CONFIG) == ()


# Where a node stands


def test_a_node_takes_the_place_of_what_it_was_made_of() -> None:
    said = items(chat(4))
    found = with_node(said, said[2:5], Node(id="s1", depth=0, text="t", tokens=1, level=1, source_tokens=1))
    assert indices(found) == [0, 1, None, 5, 6, 7]
    assert found[2].stands_for == (2, 3, 4)
    assert place_of(found[2]) == 400


def test_nodes_that_do_not_stand_in_a_row_get_it_in_the_middle_or_where_that_is_taken_at_the_end() -> None:
    a, b, c, d = (node(at, place=place) for at, place in ((1, 100), (2, 200), (3, 400), (4, 500)))
    made = Node(id="s5", depth=1, text="t", tokens=1, level=1, source_tokens=1)
    assert ids(with_node([a, b, c, d], [a, d], made)) == ["s2", "s5", "s3"]
    assert ids(with_node([a, node(6, place=300), c, d], [a, d], made)) == ["s6", "s3", "s5"]


def test_names_go_on_from_all_nodes_that_are_known() -> None:
    inner = Node(id="s7", depth=0, text="", tokens=1, level=1, source_tokens=1)
    assert next_id([node(8, depth=1, below=(inner,)), node(3)]) == "s9"
    assert next_id(items(chat(1))) == "s1"
    assert tokens_of(node(1, tokens=77)) == 77
