"""What happens where a request can't be sent as the list is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.config import ClearResultsConfig
from harness_nb.core.item import ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.requests import Ask, Evict, Failure, Reply, Request, Unknown
from harness_nb.core.tool import Tool
from harness_nb.core.view import Refusal, View
from harness_nb.policies.harness import HarnessPolicy
from harness_nb.policies.harness.rooms import room_for_input
from tests.policies.harness.viewing import answer, policy, talk, view_of

SMALL = ModelLimits(name="m", window=8_000, max_output=1_000)


def refused(messages: list[Message], **fields: Any) -> View:
    return view_of(messages, hook="overflow", error=Refusal("too long"), **({"model": SMALL} | fields))


def looked(name: str = "run", chars: int = 40_000) -> list[Message]:
    return [
        Message.user("look"),
        Message.assistant(None, [ToolCall(f"c-{name}", name)]),
        Message.tool(f"c-{name}", "r" * chars, name=name),
    ]


def driven(
    acting: HarnessPolicy, view: View, summary: str = "short", failing: bool = False
) -> tuple[Any, list[Request]]:
    """The strict plan with these summaries and evicted files, and what was asked for."""
    asked: list[Request] = []
    view = replace(view, strict=True)
    while True:
        try:
            return acting.plan(view), asked
        except Unknown as signal:
            asked.append(signal.request)
            reply = Reply(summary) if isinstance(signal.request, Ask) else Reply("large_tool_results/a.txt")
            view = view.learn(signal.request, Reply(None, Failure("error", "full")) if failing else reply)


@pytest.mark.parametrize(("chars", "kept"), [(400, 20), (2_000, 10), (4_000, 5), (8_000, 2), (20_000, 1)])
def test_ever_shorter_ends_are_kept_until_one_fits_and_only_then_a_summary_is_asked_for(chars: int, kept: int) -> None:
    messages = [Message.assistant("a".ljust(chars, ".")) for _ in range(40)]
    view = refused([Message.user("go"), *messages], turn=0)
    plan, asked = driven(policy(keep_messages=20), view)
    read = [index for request in asked if isinstance(request, Ask) for index in request.shown]
    assert read == sorted(set(read)) == list(plan.items(view)[0].stands_for)  # one summary, in as many parts as needed
    assert len([item for item in plan.items(view) if item.message.role == "assistant"]) == kept
    assert plan.again is False
    if chars < 20_000:
        assert view.tokens_of(plan.items(view)) <= room_for_input(view)


def test_with_fewer_messages_than_are_kept_it_begins_at_their_number() -> None:
    view = refused(talk(6, chars=4_000))
    plan, _ = driven(policy(keep_messages=50), view)
    assert plan.changes and view.tokens_of(plan.items(view)) <= room_for_input(view)


def test_keep_tokens_shrink_the_same_way() -> None:
    messages = [Message.assistant("a".ljust(4_000, ".")) for _ in range(40)]
    view = refused([Message.user("go"), *messages], turn=0)
    plan, _ = driven(policy(keep_tokens=16_000), view)
    assert sum(item.message.role == "assistant" for item in plan.items(view)) == 3  # within 4,000 of 16,000 tokens


def test_when_no_end_is_short_enough_the_largest_results_go_to_files() -> None:
    view = refused([*talk(3), *looked()])
    plan, asked = driven(policy(keep_messages=2), view)
    (eviction,) = [request for request in asked if isinstance(request, Evict)]
    assert (eviction.index, eviction.call_id, eviction.text) == (8, "c-run", "r" * 40_000)
    moved = plan.items(view)[-1]
    assert moved.how == "evicted" and moved.meta["path"] == "large_tool_results/a.txt"
    assert "moved to large_tool_results/a.txt" in moved.message.text and "no tool to read it" in moved.message.text
    assert view.tokens_of(plan.items(view)) <= room_for_input(view)


def test_a_result_is_moved_also_where_nothing_is_old_enough_for_a_summary() -> None:
    view = refused(looked())
    plan, asked = driven(policy(), view)
    assert plan.outcome == "evicted" and [type(one) for one in asked] == [Evict]
    assert "large results were moved" in plan.reason
    failed, _ = driven(policy(), view, failing=True)
    assert not failed.changes and failed.reason == "nothing is old enough to be summarised"


def test_only_as_many_results_as_needed_are_moved_the_largest_first() -> None:
    sizes = {"mid": 12_000, "big": 30_000, "small": 3_000}
    results = [Message.tool(f"c-{name}", "r" * chars, name=name) for name, chars in sizes.items()]
    calls = [ToolCall(f"c-{name}", name) for name in sizes]
    view = refused([Message.user("look"), Message.assistant(None, calls), *results])
    plan, asked = driven(policy(), view)
    assert [request.call_id for request in asked if isinstance(request, Evict)] == ["c-big"]
    assert [item.how for item in plan.items(view)].count("evicted") == 1


def test_r042_what_was_read_from_a_file_is_not_moved_to_one_again() -> None:
    view = refused(looked("read_file"))
    assert not driven(policy(), view)[0].changes


def test_the_note_in_place_of_a_moved_result_names_the_tool_that_reads_it_only_where_there_is_one() -> None:
    def read_file(path: str) -> str:
        return path

    view = refused(looked(), tools=(Tool.of(read_file),))
    plan, _ = driven(policy(), view)
    assert "read_file(path='large_tool_results/a.txt'" in plan.items(view)[-1].message.text


def test_an_input_above_the_window_is_treated_like_one_that_was_refused() -> None:
    messages = [Message.assistant("a".ljust(4_000, ".")) for _ in range(40)]
    view = view_of([Message.user("go"), *messages], turn=0, model=SMALL)
    plan, _ = driven(policy(keep_messages=20), view)
    assert view.tokens > 8_000 and view.tokens_of(plan.items(view)) <= room_for_input(view)


def test_a_summary_that_is_longer_than_assumed_leads_to_another_pass_with_a_shorter_end() -> None:
    messages = [Message.assistant("a".ljust(4_000, ".")) for _ in range(12)]
    view = refused([Message.user("go"), *messages], turn=0)
    acting = policy(keep_messages=8)
    plan, _ = driven(acting, view, summary="s" * 16_000)
    assert plan.again and view.tokens_of(plan.items(view)) > room_for_input(view)
    after = replace(view.after(plan), done=(plan,))
    last, _ = driven(acting, after)
    assert not last.again and len(last.items(after)) < len(plan.items(view))
    assert after.tokens_of(last.items(after)) <= room_for_input(view)


def test_clearing_old_results_is_enough_where_it_makes_the_request_fit() -> None:
    view = refused([*looked(), answer(), *looked("last", 100), answer(), Message.user("next")])
    cleared = ClearResultsConfig(protect_tokens=0, min_gain_tokens=1, preview_chars=100)
    plan, asked = driven(policy(keep_messages=2, clear_results=cleared), replace(view, turn=9))
    assert plan.outcome == "cleared" and asked == []


def test_nothing_is_changed_where_all_that_is_there_is_the_request() -> None:
    view = refused([Message.user("x" * 100_000)])
    assert not driven(policy(), view)[0].changes
    assert not driven(policy(), replace(view, input=ModelInput()))[0].changes
