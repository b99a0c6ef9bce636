from __future__ import annotations

from harness_nb.lab.readers.branches import Link, path_taken


def test_a_plain_sequence_is_taken_whole() -> None:
    assert path_taken([Link(None, None)] * 3) == {0, 1, 2}
    assert path_taken([]) == frozenset()


def test_a_branch_that_was_left_is_not_on_the_path() -> None:
    links = [Link("a", None), Link("b", "a"), Link("c", "b"), Link("d", "a"), Link("e", "d")]
    assert path_taken(links) == {0, 3, 4}


def test_a_broken_chain_goes_on_with_the_entry_before() -> None:
    assert path_taken([Link("a", None), Link("b", "a"), Link("c", "gone"), Link("d", "c")]) == {0, 1, 2, 3}


def test_a_parent_that_stands_later_or_is_the_entry_itself_ends_nowhere() -> None:
    assert path_taken([Link("a", "b"), Link("b", "b"), Link("c", "d"), Link("d", "c")]) == {0, 1, 2, 3}
