from __future__ import annotations

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.policies.picoclaw.turns import boundary, sanitised, starts, without_first_turn
from tests.policies.picoclaw.talks import call, chat, indices, items, loop, result


def test_turns_begin_with_the_user() -> None:
    assert starts(items([*loop(2), *chat(2)])) == [0, 5, 7]


@pytest.mark.parametrize(("wanted", "found"), [(0, 0), (1, 5), (4, 5), (5, 5), (6, 5), (7, 7), (8, 7), (9, 9)])
def test_a_cut_falls_on_a_turn_before_the_wanted_place_or_else_behind_it(wanted: int, found: int) -> None:
    assert boundary(items([*loop(2), *chat(2)]), wanted) == found


def test_a_single_turn_can_not_be_cut_and_without_turns_any_place_will_do() -> None:
    assert boundary(items(loop(4)), 4) == 0
    assert boundary(items([Message.assistant("a"), Message.assistant("b"), Message.assistant("c")]), 1) == 1


def test_leaving_the_first_turn_out_leaves_the_rest() -> None:
    assert indices(without_first_turn(items([Message.assistant("a"), *chat(2)]))) == [1, 2, 3, 4]
    assert without_first_turn(items(loop(3))) == ()


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (loop(2), [0, 1, 2, 3, 4]),
        ([Message.user("q"), call("a", "b"), result("a"), result("b")], [0, 1, 2, 3]),
        ([Message.user("q"), call("a", "b"), result("a")], [0]),
        ([Message.user("q"), call("a"), result("a"), result("a"), result("other")], [0, 1, 2]),
        ([Message.user("q"), call(""), result("")], [0]),
        ([call("a"), result("a"), Message.user("q")], [2]),
        ([Message.user("q"), Message.assistant("a"), call("c"), result("c")], [0, 1]),
        ([Message.system("s"), Message.user("q"), result("x")], [1]),
        ([Message.user("q"), call("c"), result("c"), call("c"), result("c")], [0, 1, 2, 3, 4]),
    ],
    ids=["whole", "two", "missing", "double", "no id", "start", "after answer", "system", "id again"],
)
def test_calls_and_results_that_do_not_match_are_dropped(messages: list[Message], left: list[int]) -> None:
    found = sanitised(items(messages))
    assert indices(found) == left
    assert not any(one.kind != "end" for one in problems([item.message for item in found]))


def test_without_the_request_before_it_a_whole_loop_is_dropped() -> None:
    said = [*loop(9)[1:], Message.assistant("the answer"), Message.user("next")]
    assert indices(sanitised(items(said))) == [18, 19]
