from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_nb.model.alike import Alike

SETS = st.lists(st.frozensets(st.sampled_from("abcdefghij"), max_size=8), max_size=30)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


@given(sets=SETS, share=st.sampled_from([0.3, 0.5, 0.8, 0.85, 1.0]))
def test_it_finds_exactly_what_comparing_each_with_each_finds(sets: list[frozenset[str]], share: float) -> None:
    alike: Alike[int] = Alike(share, sets)
    for at, one in enumerate(sets):
        assert sorted(alike.find(one)) == [key for key in range(at) if likeness(one, sets[key]) >= share]
        alike.add(at, one)


def test_what_was_taken_out_is_not_found() -> None:
    alike: Alike[str] = Alike(0.5, ["ab", "abc"])
    alike.add("x", "ab")
    alike.add("y", "abc")
    alike.remove("x")
    assert alike.find("ab") == ["y"]
