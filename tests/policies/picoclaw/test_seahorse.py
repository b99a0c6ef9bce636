from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply
from harness_nb.core.view import View
from harness_nb.policies.picoclaw.config import SeahorseConfig
from harness_nb.policies.picoclaw.seahorse import SeahorsePolicy
from tests.policies.picoclaw.talks import BROKEN, OK, chat, grown, indices, loop, planned, view_of


def policy(**settings: Any) -> SeahorsePolicy:
    return SeahorsePolicy(SeahorseConfig(**{"fresh_tail": 4, "max_tokens": 100, **settings}))


def after(acting: SeahorsePolicy, turns: int, window: int, reply: Reply = OK, chars: int = 40) -> tuple[View, Plan]:
    """The view before the last turn's work, and the plan for it, with work after each turn."""
    view = view_of(chat(1, chars), window)
    plan, _ = planned(acting, view, reply)
    for _ in range(turns - 1):
        view = grown(view, plan, *chat(1, chars))
        plan, _ = planned(acting, view, reply)
    return view, plan


def ids(acting: SeahorsePolicy, plan: Plan, view: View) -> list[str]:
    return [node.id for node in acting.nodes(plan.items(view))]


def test_eight_messages_become_a_leaf_however_empty_the_window_is() -> None:
    acting = policy()
    view, plan = after(acting, 6, 1_000_000)
    assert plan.input is not None
    assert [item.meta.get("picoclaw") for item in plan.input[:2]] == ["node", "hint"]
    assert indices(plan.input) == [None, None, 8, 9, 10, 11]
    assert plan.input[0].stands_for == tuple(range(8))


def test_200_turns_leave_a_leaf_for_each_four_of_them() -> None:
    acting = SeahorsePolicy()
    view, plan = after(acting, 200, 1_000_000)
    items = acting.bare(plan.items(view))
    assert (len(items), len(acting.nodes(items))) == (78, 46)


def test_leaves_are_condensed_above_the_window_only() -> None:
    roomy, full = policy(), policy()
    long = Reply("leaf " * 100)
    assert all(node.is_leaf for node in roomy.nodes(after(roomy, 30, 100_000, long)[1].items(view_of(chat(1)))))
    view, plan = after(full, 30, 900, long)
    nodes = full.nodes(plan.items(view))
    assert any(not node.is_leaf for node in nodes)
    assert [node.id for node in nodes] == [f"s{at}" for at in range(1, len(nodes) + 1)]
    condensed = next(node for node in nodes if not node.is_leaf)
    assert condensed.depth == 1 and condensed.descendants == len(condensed.sources)


def test_condensing_may_begin_earlier() -> None:
    early = policy(condense_at=0.1)
    view, plan = after(early, 30, 9_000, Reply("leaf " * 100))
    assert any(not node.is_leaf for node in early.nodes(plan.items(view)))


def test_a_failed_leaf_changes_nothing() -> None:
    plan, asked = planned(policy(), view_of(chat(6)), BROKEN)
    assert (plan.changes, plan.outcome, len(asked)) == (False, "failed", 1)


def test_condensing_ends_with_a_failure_and_when_it_gains_nothing() -> None:
    made = policy()
    view, plan = after(made, 30, 100_000, Reply("leaf " * 100))
    small = replace(grown(view, plan, *chat(1)), model=replace(view.model, window=900))
    failed, asked = planned(made, small, BROKEN)
    assert [one.purpose for one in asked] == ["condensed1"]
    assert all(node.is_leaf for node in made.nodes(failed.items(small)))
    _, asked = planned(made, small, Reply("longer than all of them " * 400))
    assert [one.purpose for one in asked] == ["condensed1"]


def test_without_a_model_nodes_are_cut_from_their_sources() -> None:
    acting = policy(uses_model=False)
    _, plan = after(acting, 30, 900)
    nodes = acting.nodes(plan.items(view_of(chat(1))))
    assert {node.level for node in nodes} == {3} and any(not node.is_leaf for node in nodes)


def test_before_a_turn_that_does_not_fit_a_leaf_is_made() -> None:
    asked = view_of([*chat(30, 238), Message.user("now")], 2_000, hook="request", fixed_tokens=0)
    plan, requests = planned(policy(compact_every_turn=False, max_tokens=0, leaf_chunk_tokens=10**6), asked)
    assert not plan.again and requests == []  # what is assembled fits already
    crowded = replace(asked, fixed_tokens=1_500)
    plan, requests = planned(policy(compact_every_turn=False, max_tokens=0, leaf_chunk_tokens=10**6), crowded)
    assert plan.again and [one.purpose for one in requests] == ["leaf1"]


def test_work_after_a_turn_can_be_switched_off() -> None:
    assert not planned(policy(compact_every_turn=False), view_of(chat(9)))[0].changes
    assert planned(policy(compact_every_turn=False), view_of(chat(9), hook="manual"))[0].changes


def test_after_an_overflow_leaves_are_made_until_the_list_is_under_the_window() -> None:
    acting = policy(leaf_chunk_tokens=1_000)
    view = view_of(chat(20, 238), 1_500, hook="overflow", fixed_tokens=0)
    plan, asked = planned(acting, view)
    assert plan.again and plan.input is not None
    assert [len(one.shown) for one in asked] == [10, 10, 10]
    assert acting.until_under(view_of(chat(2), 1_500)) == (view_of(chat(2)).input[:], 0, "under")


@pytest.mark.parametrize(
    ("messages", "settings", "end"),
    [(chat(2, 9_000), {}, "no progress"), (chat(20, 9_000), {"most_rounds": 1, "leaf_chunk_tokens": 9}, "no progress")],
)
def test_it_ends_where_nothing_helps(messages: list[Message], settings: dict[str, Any], end: str) -> None:
    assert policy(**settings).until_under(view_of(messages, 1_000))[2] == end


def test_it_ends_after_the_most_steps() -> None:
    assert policy(most_rounds=1, leaf_chunk_tokens=160).until_under(view_of(chat(40, 38), 100))[1:] == (1, "cap")


def test_a_request_sends_the_newest_items_and_a_hint_that_fits_them() -> None:
    acting = policy()
    view, plan = after(acting, 6, 1_000_000)
    sent = acting.assembly(grown(view, plan))
    assert (sent.hint, sent.budget) == ("mild", 999_900)
    small = policy(max_tokens=3_990)
    asked = grown(view_of(chat(6, 200), 4_000), Plan(), Message.user("now"), hook="request", fixed_tokens=0)
    trimmed = small.trim(asked)
    assert trimmed.lasts == "request" and indices(trimmed.items(asked)) == [12]


def test_without_room_for_the_reply_half_of_the_window_is_used() -> None:
    assert policy(max_tokens=5_000).budget(view_of(chat(1), 4_000)) == 2_000


def test_a_leaf_may_part_a_call_from_its_result_and_the_clean_up_then_drops_all_behind_it() -> None:
    acting = policy(leaf_min=2, fresh_tail=20)
    view = view_of([*loop(10), Message.assistant("the answer"), Message.user("next")])
    plan, _ = planned(acting, view)
    assert plan.input is not None and plan.input[0].stands_for == (0, 1, 2)
    said = [item for item in plan.input if item.index is not None]
    assert acting.dropped_by_clean_up(said) == list(range(3, 21))
