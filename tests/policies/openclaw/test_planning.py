from __future__ import annotations

from harness_nb.core.messages import Message
from harness_nb.policies.openclaw.planning import by_size, chunk_tokens, chunks, halves, shared, stages, whole
from tests.policies.openclaw.talks import called, chat, items, result, steps


def lengths(parts: object) -> list[int]:
    return [len(part) for part in parts]  # type: ignore[attr-defined]


def test_a_chunk_is_smaller_where_messages_are_large() -> None:
    assert chunk_tokens(items(chat(4, 100)), 64_000) == 25_600 - 4_096
    assert chunk_tokens(items(chat(4, 30_000)), 64_000) == 9_600 - 4_096
    assert chunk_tokens([], 1_000) == 1


def test_chunks_keep_below_the_limit_less_a_margin() -> None:
    assert lengths(chunks(items(chat(5, 100)), 600)) == [5, 5]
    assert lengths(chunks(items([*chat(1, 100), *chat(1, 900)]), 600)) == [2, 1, 1]
    assert chunks([], 600) == ()


def test_halves_never_go_through_a_round() -> None:
    talk = items([Message.user("u"), *steps(4, 100)[1:]])
    first, second = halves(talk)
    assert second[0].message.role == "assistant" and len(first) + len(second) == len(talk)


def test_a_call_whose_answer_is_missing_goes_to_the_second_half() -> None:
    talk = items([*chat(1, 10), called("x"), *chat(1, 400)[:1]])
    assert lengths(halves(talk)) == [2, 2]


def test_few_messages_and_small_ones_are_one_stage() -> None:
    assert lengths(stages(items(chat(1, 900)), 100)) == [2]
    assert lengths(stages(items(chat(4, 10)), 10_000)) == [8]
    assert lengths(stages(items(chat(4, 900)), 1_000)) == [4, 4]


def test_what_is_above_half_the_window_is_told_apart() -> None:
    found = by_size(items([*chat(1, 100), Message.user("x" * 40_000)]), 20_000)
    assert lengths((found.small, found.large)) == [2, 1]


def test_oldest_halves_leave_a_history_where_much_stays_outside_it() -> None:
    talk = items(chat(10, 1_000))
    assert shared(talk, 1_000, 10_000, 0.5).dropped == ()
    found = shared(talk, 9_000, 10_000, 0.5)
    assert [one.index for one in found.dropped] == list(range(15)) and len(found.rest) == 5


def test_results_without_their_call_are_left_out() -> None:
    talk = items([result("a", 5), called("b"), result("b", 5)])
    assert [one.index for one in whole(talk)] == [1, 2]
