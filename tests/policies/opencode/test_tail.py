from __future__ import annotations

from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.policies.opencode.session import stored
from harness_nb.policies.opencode.sizes import Sizes
from harness_nb.policies.opencode.tail import Tail, tail
from tests.policies.opencode.talks import talk, turn


def chosen(messages: list[Message], budget: int = 8_000, most_turns: int | None = 2) -> Tail:
    steps = stored(Item(at, message) for at, message in enumerate(messages))
    return tail(steps, Sizes("@ai-sdk/anthropic"), budget=budget, most_turns=most_turns)


def start(found: Tail) -> Any:
    return None if found.start is None else found.start[0]


def test_the_newest_turns_stay_whole_while_they_fit() -> None:
    found = chosen(talk(4))
    assert (start(found), len(found.turns)) == (8, 2)
    assert found.tokens == sum(found.turns)


def test_without_a_limit_on_turns_the_budget_decides() -> None:
    found = chosen(talk(10), budget=1_000, most_turns=None)
    assert len(found.turns) == 10
    assert found.tokens <= 1_000 < sum(found.turns)


def test_of_the_first_turn_that_does_not_fit_the_longest_end_stays() -> None:
    long = [Message.user("all of them"), *(one for at in range(9) for one in turn(at, 4_000)[1:3])]
    found = chosen(long, budget=2_500)
    assert start(found) == 15
    assert found.tokens <= 2_500


def test_a_single_message_can_not_be_split() -> None:
    found = chosen([*talk(1), Message.user("x" * 50_000)])
    assert (found.start, found.tokens, len(found.turns)) == (None, 0, 2)


def test_a_tail_that_would_begin_at_the_very_start_is_none() -> None:
    found = chosen(talk(2))
    assert (found.start, found.tokens, len(found.head)) == (None, 0, 6)


def test_no_turns_wanted_means_no_tail() -> None:
    found = chosen(talk(4), most_turns=0)
    assert (found.start, found.turns) == (None, ())


def test_without_a_user_message_there_is_no_tail() -> None:
    assert chosen([Message.assistant("a"), Message.assistant("b")]).start is None


def test_nothing_fits_a_budget_of_nothing() -> None:
    assert chosen(talk(3), budget=0).start is None
