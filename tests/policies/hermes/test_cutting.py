from __future__ import annotations

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.policies.hermes.config import HermesConfig, thresholds
from harness_nb.policies.hermes.cutting import can_compress, cut, head_end
from harness_nb.policies.hermes.marks import MARK
from tests.policies.hermes.talks import answer, call, chat, items, result, steps

CONFIG = HermesConfig()


def cut_of(messages: list[Message], window: int = 64_000, compactions: int = 0) -> tuple[int, int]:
    """Behind the head, and where the end begins."""
    listed = items(messages)
    head = head_end(listed, CONFIG, compactions)
    return head, cut(listed, head, CONFIG, thresholds(CONFIG, ModelLimits(name="model", window=window)))


def test_the_start_is_kept_in_the_first_compaction_only() -> None:
    listed = items(chat(10))
    assert head_end(listed, CONFIG, 0) == 3
    assert head_end(listed, CONFIG, 1) == 0
    assert head_end(listed, HermesConfig(head_decay=False), 5) == 3


def test_a_system_message_is_kept_beside_the_start() -> None:
    listed = items([Message.system("be good"), *chat(10)])
    assert head_end(listed, CONFIG, 0) == 4
    assert head_end(listed, CONFIG, 1) == 1


def test_the_start_takes_in_the_results_that_follow_it() -> None:
    listed = items([Message.user("q"), answer("a"), call("c1"), result("c1"), *chat(5)])
    assert head_end(listed, CONFIG, 0) == 4


def test_a_list_needs_five_messages_behind_the_start() -> None:
    assert not can_compress(items(chat(3)), 3)
    assert can_compress(items(chat(4)), 3)


def test_a_short_list_keeps_fewer_messages_so_that_some_are_summarised() -> None:
    assert cut_of(chat(4, 200)) == (3, 6)
    assert cut_of(chat(6, 200)) == (3, 6)


def test_at_least_eight_messages_are_kept_however_long() -> None:
    messages = chat(30, 20_000)
    assert cut_of(messages)[1] == len(messages) - 8


def test_the_end_never_begins_inside_a_round() -> None:
    head, at = cut_of(steps(60, 8_000))
    assert items(steps(60, 8_000))[at].message.calls
    assert head < at


def test_the_last_request_stays_in_the_end() -> None:
    messages = [*chat(10), answer("working"), *steps(30, 4_000)[1:]]
    assert cut_of(messages)[1] <= len(chat(10)) - 1


def test_a_request_right_behind_the_start_goes_together_with_its_answer() -> None:
    messages = [Message.user("setup"), call("x"), result("x"), Message.user("go"), *steps(30, 8_000)[1:]]
    assert cut_of(messages) == (3, 6)


def test_an_earlier_summary_is_no_request_and_no_answer() -> None:
    summary = Message.user(f"{MARK} before", origin="harness")
    messages = [*chat(10, 4_000), answer("working"), summary, *steps(5)[1:]]
    assert cut_of(messages)[1] <= len(chat(10)) - 1
