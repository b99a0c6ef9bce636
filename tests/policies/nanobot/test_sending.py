"""The last pass before a request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Evict, Failure, Reply
from harness_nb.core.view import View
from harness_nb.policies.nanobot.sending import Sending
from tests.policies.nanobot.talks import HEAD, calls, chat, policy, view_of


def sent(stored: list[Message], window: int = 60_000, **fields: Any) -> tuple[Plan, View]:
    settings = fields.pop("settings", {})
    view = view_of(stored, window, hook="request", **fields)
    return policy(**settings).plan(view), view


def roles(plan: Plan, view: View) -> list[str]:
    return [item.message.role for item in plan.items(view)]


def test_a_request_that_fits_stays_as_it_is() -> None:
    plan, _ = sent(chat(3, 50))
    assert not plan.changes


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() -> None:
    said = [Message.user("go"), Message.assistant(None, [ToolCall("c1", "look")]), Message.tool("other", "?")]
    plan, view = sent(said)
    assert roles(plan, view) == ["user", "assistant", "tool", "user"]
    assert plan.items(view)[2].message.call_id == "c1"
    assert plan.lasts == "request"


def test_head_leaves_the_result_of_a_repeated_id_out_and_july_sends_it() -> None:
    said = [Message.user("go"), *calls("look", "one"), *calls("look", "two")]
    assert not sent(said)[0].changes
    plan, view = sent(said, settings={**HEAD, "drops_repeated_results": True})
    assert roles(plan, view) == ["user", "assistant", "tool", "assistant", "user"]


def test_marks_of_left_out_replies_and_calls_of_no_tool_are_not_sent() -> None:
    said = [
        Message.user("go"),
        Message.assistant("[Previous assistant message omitted.]"),
        Message.assistant(None, [ToolCall("c1", "")]),
        Message.tool("c1", "x"),
    ]
    plan, view = sent(said)
    assert roles(plan, view) == ["user", "user"]


def test_a_large_result_goes_to_a_file_and_is_cut_where_that_fails() -> None:
    said = [Message.user("go"), *calls("look", "x" * 20_000)]
    view = view_of(said, 60_000, hook="request")
    request = Evict(index=2, call_id="c0", text="x" * 20_000)
    item = policy().plan(view.learn(request, Reply("files/c0.txt"))).items(view)[2]
    assert (item.how, item.meta["path"]) == ("evicted", "files/c0.txt")
    failed = policy().plan(view.learn(request, Reply(None, Failure("error")))).items(view)[2]
    assert failed.how == "truncated"
    assert not sent([Message.user("go"), *calls("read_file", "x" * 20_000)])[0].changes


def test_old_results_of_the_running_turn_are_taken_away_before_the_history_is_cut() -> None:
    stored = chat(2, 100)
    view = view_of(stored, 9_000, hook="request")
    log = view.log.append(*calls("grep", "x" * 3_000, "y" * 3_000, "z" * 3_000))
    grown = View.of(log, hook="request", turn=4, model=view.model)
    plan = policy().plan(grown)
    cleared = [item.index for item in plan.items(grown) if item.how == "cleared"]
    assert cleared == [6, 8][: len(cleared)] != []
    assert plan.items(grown)[-1].message.text == "z" * 3_000


def test_what_does_not_fit_is_cut_off_from_the_start_and_the_request_of_the_user_stays() -> None:
    plan, view = sent(chat(20, 1_000), 8_000)
    indices = [item.index for item in plan.items(view)]
    assert indices == list(range(indices[0] or 0, 41))
    assert view.log[indices[0] or 0].role == "user"
    alone, view = sent([Message.user("go"), *calls("look", *["x" * 900] * 20)], 6_000)
    assert [item.index for item in alone.items(view)] == [41]


def test_an_unanswered_request_and_the_new_one_are_measured_as_one() -> None:
    view = view_of([*chat(1, 50), Message.user("unanswered")], 60_000, hook="request")
    made = policy()
    sending = Sending(view, made.config, made.sizes(view), "")
    apart = replace(view, turn=99)
    other = Sending(apart, made.config, made.sizes(apart), "")
    assert other.tokens(view.input) - sending.tokens(view.input) == 4 - 1
