from __future__ import annotations

from harness_nb.core.messages import Image, Message, Text
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.results import kept_chars
from harness_nb.policies.openclaw.sending import guarded, pruned, without_old_pictures
from harness_nb.policies.openclaw.wording import CLEARED, OLD_PICTURE, OLD_REFERENCE
from tests.policies.openclaw.talks import called, chat, items, result

PICTURE = Image("data:x", '{"type":"image_url","image_url":{"url":"data:x"}}')


def turns(count: int) -> list[Message]:
    return [one for at in range(count) for one in (Message.user([Text(f"t{at}"), PICTURE]), Message.assistant("a"))]


def test_pictures_leave_requests_once_three_finished_turns_are_newer() -> None:
    three = items([*turns(3), Message.user("now")])
    assert without_old_pictures(three) == tuple(three)
    made = without_old_pictures(items([*turns(5), Message.user("now")]))
    assert [OLD_PICTURE in one.message.text for one in made] == [True, False, True, *[False] * 8]


def test_references_to_files_go_with_them() -> None:
    old = Message.user("look [media attached: a.png] and media://inbound/b.png")
    made = without_old_pictures(items([old, Message.assistant("a"), *turns(3)]))
    assert made[0].message.text == f"look {OLD_REFERENCE} and {OLD_REFERENCE}"


def loop(count: int, tokens: int) -> list[Message]:
    rounds = [one for at in range(count) for one in (called(f"c{at}"), result(f"c{at}", tokens))]
    return [Message.user("go"), *rounds, *(Message.assistant("a") for _ in range(3))]


def test_old_results_are_trimmed_from_three_tenths_of_the_window_on() -> None:
    talk = items(loop(4, 5_000))
    assert pruned(talk, 200_000, OpenClawConfig()) == tuple(talk)
    made = pruned(talk, 64_000, OpenClawConfig())
    assert all(one.meta["head"] == 1_500 for one in made if one.message.role == "tool")


def test_old_results_are_cleared_from_half_of_it_on_oldest_first() -> None:
    made = pruned(items(loop(40, 900)), 64_000, OpenClawConfig())
    cleared = [one.message.text == CLEARED for one in made if one.message.role == "tool"]
    assert cleared[0] and not cleared[-1] and sorted(cleared, reverse=True) == cleared
    few = pruned(items(loop(40, 900)), 64_000, OpenClawConfig(pruning_clears=False))
    assert not any(one.message.text == CLEARED for one in few)


def test_what_stands_before_the_first_request_and_the_last_answers_are_left_alone() -> None:
    talk = items([called("a"), result("a", 30_000), *loop(0, 0), called("b"), result("b", 30_000)])
    assert pruned(talk, 64_000, OpenClawConfig()) == tuple(talk)


def test_the_guard_cuts_one_result_and_says_when_all_is_too_long() -> None:
    found = guarded(items([Message.user("go"), called("c"), result("c", 5_000)]), 16_000)
    assert kept_chars(found.items[2].message.text)[0] == 7_927 and not found.overflows
    assert guarded(items(chat(40, 1_000)), 16_000).overflows
