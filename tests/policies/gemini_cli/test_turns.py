from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message
from harness_nb.policies.gemini_cli.sizes import Sizes, text_part
from harness_nb.policies.gemini_cli.turns import Turn, positions, split, tokens, turn_chars, turns
from tests.policies.gemini_cli.talks import answer, call, pairs, result, steps


def turned(messages: Sequence[Message], **fields: bool | str) -> tuple[Turn, ...]:
    items = [Item(at, message) for at, message in enumerate(messages)]
    return turns(items, Sizes(), **fields)  # type: ignore[arg-type]


def cut(messages: Sequence[Message], **fields: bool | str) -> int:
    """How many messages come before the split."""
    found = turned(messages, **fields)
    return len(positions(found[: split(found, 0.7).at]))


def test_neighbours_of_one_role_are_one_turn() -> None:
    found = turned([Message.user("a"), Message.user("b"), call("c", "d"), result("c"), result("d"), Message.user("e")])
    assert [positions((one,)) for one in found] == [(0, 1), (2,), (3, 4, 5)]


def test_where_turns_are_not_merged_only_results_of_one_answer_are_together() -> None:
    found = turned([Message.user("a"), Message.user("b"), call("c", "d"), result("c"), result("d")], merge=False)
    assert [positions((one,)) for one in found] == [(0,), (1,), (2,), (3, 4)]


def test_a_blank_answer_takes_the_answers_beside_it_along() -> None:
    found = turned([Message.user("a"), answer("b"), answer(""), Message.user("c"), answer("d")])
    assert [positions((one,)) for one in found] == [(0, 3), (4,)]


def test_the_environment_is_one_turn_with_the_first_prompt_and_is_no_message() -> None:
    found = turned([Message.user("a"), answer("b")], environment="where we are")
    assert len(found) == 2 and len(found[0]) == 2 and positions(found) == (0, 1)
    assert tokens(found, text_part("xxxx")) == (len("where we are") + 2 + 4) // 4
    assert turn_chars(found[0]) == len('{"parts":[{"text":"where we are"},{"text":"a"}],"role":"user"}')
    assert turn_chars(found[1]) == len('{"parts":[{"text":"b"}],"role":"model"}')


LONG = steps(20)


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        ([], 0),
        (pairs(10), 14),
        ([Message.user("go"), *LONG, answer("done")], 42),
        ([Message.user("go"), *LONG, call("pending")], 0),
        ([*pairs(1), Message.user("go"), *LONG, call("pending")], 2),
        ([*pairs(1), Message.user("x" * 9_000)], 2),
        ([*pairs(1), Message.user("x" * 9_000), answer("yes")], 4),
        ([Message.user("only this")], 0),
    ],
)  # fmt: skip
def test_the_split_falls_before_a_prompt_behind_seventy_percent_of_the_characters(
    messages: list[Message], at: int
) -> None:
    assert cut(messages) == at


def test_a_prompt_right_behind_a_result_is_no_boundary() -> None:
    messages = [Message.user("a" * 500), call("c"), result("c"), Message.user("b"), *pairs(1)[1:], *pairs(1)]
    assert cut(messages) == 5


def test_pictures_count_with_all_their_characters() -> None:
    picture = Image("data:image/png;base64," + "A" * 5_000, "{}")
    assert cut([*pairs(2), Message.user([picture]), answer("a"), *pairs(4)]) == 6
    assert cut(pairs(7)) == 10


def test_an_environment_moves_the_split() -> None:
    assert cut(pairs(10), environment="x" * 6_000) == 2


@given(st.lists(st.sampled_from("upcrb"), max_size=14), st.floats(0.05, 0.95))
def test_a_split_is_always_before_a_prompt_or_at_an_end(kinds: list[str], fraction: float) -> None:
    made = {"u": Message.user("prompt"), "p": answer("plain"), "c": call("c"), "r": result("c"), "b": answer("")}
    found = turned([made[kind] for kind in kinds])
    where = split(found, fraction)
    assert 0 <= where.at <= len(found) and 0 <= where.wanted <= len(found)
    if 0 < where.at < len(found):
        assert found[where.at][0].role == "user" and not any(piece.is_result for piece in found[where.at])
