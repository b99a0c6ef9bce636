from __future__ import annotations

import pytest

from harness_nb.core.messages import Message
from harness_nb.policies.openclaw.cutting import Cut, cut
from tests.policies.openclaw.talks import called, chat, filled, items, result, steps


def numbers(found: Cut) -> tuple[list[int | None], list[int | None], list[int | None]]:
    return tuple([item.index for item in part] for part in (found.history, found.turn_prefix, found.kept))  # type: ignore[return-value]


def test_the_end_within_the_budget_stays() -> None:
    history, prefix, kept = numbers(cut(items(chat(20, 1_000)), 20_000))
    assert (history, prefix, kept) == (list(range(20)), [], list(range(20, 40)))


def test_five_tokens_less_reach_one_message_further_and_split_its_turn() -> None:
    talk = [*chat(20, 1_000)[:-1], Message.assistant(filled("a", 995))]
    history, prefix, kept = numbers(cut(items(talk), 20_000))
    assert (history[-1], prefix, kept[0]) == (17, [18], 19)


def test_a_short_conversation_stays_whole() -> None:
    assert numbers(cut(items(chat(2, 10)), 20_000)) == ([], [], [0, 1, 2, 3])


def test_results_stay_with_the_last_call_before_them() -> None:
    talk = [Message.user("u"), called("a"), result("a", 10), Message.user("v"), called("b"), result("b", 50_000)]
    assert numbers(cut(items(talk), 20_000)) == ([0, 1, 2], [3], [4, 5])


@pytest.mark.parametrize(("count", "size", "first"), [(15, 2_000, 13), (3, 9_000, 5)])
def test_a_long_tool_loop_is_cut_inside(count: int, size: int, first: int) -> None:
    talk = [*steps(count, size), Message.assistant(filled("done ", 100))]
    found = cut(items(talk), 20_000)
    assert found.is_split and not found.history and found.turn_prefix[0].index == 0
    assert found.kept[0].message.role != "tool" and found.kept[0].index >= first - 2  # type: ignore[operator]


def test_only_results_and_nothing_leave_nothing_to_cut() -> None:
    assert cut(items([result("a", 50_000)]), 10).history == ()
    assert cut([], 10) == Cut((), (), (), False)
