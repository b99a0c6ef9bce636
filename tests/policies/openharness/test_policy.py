"""OpenHarness' compaction as a policy: which step acts, and what each weakness costs or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Evict, Failure, Reply, Request
from harness_nb.core.rounds import problems
from harness_nb.core.view import Refusal, View
from harness_nb.errors import ConfigError
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.policy import OpenHarnessPolicy
from harness_nb.policies.openharness.record import OpenHarnessRecord
from tests.policies.openharness.talks import planned, said, summary, view_of, worked


def policy(**settings: Any) -> OpenHarnessPolicy:
    return OpenHarnessPolicy(OpenHarnessConfig(**{"auto_compact_threshold_tokens": 1_500, **settings}))


def failing(_: Request) -> Reply:
    return Reply(None, Failure("server_error", "unavailable"))


def second(view: View, policy: OpenHarnessPolicy) -> View:
    """The view of the pass after the first one."""
    plan = policy.plan(view)
    return replace(view.after(plan), done=(plan,))


def test_below_the_threshold_nothing_is_done() -> None:
    plan = policy().plan(view_of(said(6, 100)))
    assert not plan.changes and plan.pressure is not None and not plan.pressure.triggers[0].fired


def test_a_short_talk_is_summarised_by_a_model() -> None:
    _, plan, asked = planned(policy(), view_of(said(16)), summary)
    assert plan.outcome == "compressed" and len(asked) == 1
    assert plan.input is not None and [one.how for one in plan.input[:2]] == ["note", "summary"]
    assert [one.index for one in plan.input[2:8]] == [10, 11, 12, 13, 14, 15]


def test_a_long_talk_never_reaches_the_model_but_does_as_described() -> None:
    assert planned(policy(), view_of(said(20)), summary)[1].outcome == "condensed"
    assert planned(policy(session_memory=False), view_of(said(20)), summary)[1].outcome == "compressed"


def test_clearing_alone_may_be_enough_and_is_then_all() -> None:
    view = view_of(worked(12))
    plan = policy(auto_compact_threshold_tokens=3_500).plan(view)
    assert plan.outcome == "masked" and not plan.again and plan.lasts == "session"


def test_what_follows_clearing_is_undone_when_the_request_fails() -> None:
    view = view_of([*worked(12), *said(7)])
    first = policy().plan(view)
    assert (first.outcome, first.lasts, first.again) == ("masked", "session", True)
    rest = policy().plan(second(view, policy()))
    assert (rest.outcome, rest.lasts) == ("condensed", "reply")
    assert policy(keeps_after_error=True).plan(second(view, policy())).lasts == "session"


def test_a_failed_summary_is_tried_three_times_and_counted() -> None:
    _, plan, asked = planned(policy(), view_of(said(16)), failing)
    assert len(asked) == 3 and plan.outcome == "failed" and not plan.changes
    assert plan.state == OpenHarnessRecord(failures=1, turn=14)


def test_three_failures_stop_it_until_the_next_message_of_the_user() -> None:
    full = OpenHarnessRecord(failures=3, turn=14)
    assert not policy().plan(view_of(said(16), state=full)).changes
    assert policy().acts(view_of(said(17), state=full))
    assert not policy(breaker_scope="session").acts(view_of(said(17), state=full))


def test_a_request_that_was_too_long_loses_its_oldest_round() -> None:
    def answer(request: Request) -> Reply:
        assert isinstance(request, Ask)
        return summary(request) if 0 not in request.shown else Reply(None, Failure("overflow", "too long"))

    _, plan, asked = planned(policy(), view_of(said(16)), answer)
    assert plan.outcome == "compressed" and [one.shown[0] for one in asked if isinstance(one, Ask)] == [0, 2]


def test_a_tiny_window_acts_on_every_request_unless_told_otherwise() -> None:
    small = {"model": ModelLimits(name="m", window=30_000)}
    shipped, mended = (
        policy(auto_compact_threshold_tokens=None),
        policy(auto_compact_threshold_tokens=None, least_threshold_share=0.5),
    )
    assert shipped.plan(view_of(said(2), **small)).outcome == "passthrough"
    assert mended.plan(view_of(said(2), **small)).outcome == "unchanged"


def test_nothing_done_is_reported_as_done_unless_told_otherwise() -> None:
    talk = view_of(said(6, 2_000))
    assert policy().plan(talk).outcome == "passthrough"
    assert not policy(reports_passthrough=False).plan(talk).changes


def test_a_checkpoint_is_stale_in_the_middle_of_a_turn_unless_told_otherwise() -> None:
    state = OpenHarnessRecord(turn=18, checkpoint="old words")
    talk = view_of(said(20), state=state)
    shipped, fresh = policy().plan(talk), policy(trusts_checkpoint=False).plan(talk)
    assert shipped.input is not None and "old words" in shipped.input[1].message.text
    assert fresh.input is not None and "m019" in fresh.input[1].message.text


def test_a_digest_that_is_not_enough_is_followed_by_a_summary_if_told_so() -> None:
    talk = view_of(said(20, 2_000))
    assert planned(policy(), talk, summary)[1].outcome == "condensed"
    assert planned(policy(rechecks=True), talk, summary)[1].outcome == "compressed"


def test_the_state_of_the_work_stands_behind_the_newest_message_unless_told_otherwise() -> None:
    behind, before = (policy(attachments_first=first).plan(view_of(said(21))) for first in (False, True))
    assert behind.input is not None and behind.input[-1].meta["openharness"] == "task_focus"
    assert before.input is not None and before.input[-1].index == 20


def test_by_hand_the_words_say_how_many_messages_stay() -> None:
    talk = view_of(said(10), hook="manual", words="0")
    _, plan, _ = planned(policy(), talk, summary)
    assert plan.input is not None and [one.index for one in plan.input if one.index is not None] == [9]
    assert not policy().plan(replace(talk, words="many")).changes
    _, plan, _ = planned(policy(), replace(talk, words=""), failing)
    assert plan.outcome == "digest"


def test_an_overflow_compacts_below_the_threshold_and_if_told_so_only_on_known_words() -> None:
    talk = view_of(said(20, 100), hook="overflow", error=Refusal("prompt is too long: 3 tokens > 2 maximum"))
    assert policy().plan(talk).outcome == "condensed"
    assert not policy(only_known_overflows=True).plan(talk).changes


def test_a_large_result_is_filed_and_its_beginning_stays() -> None:
    talk = view_of(worked(1, 20_000), hook="result")
    _, plan, asked = planned(policy(), talk, lambda _: Reply("tool_artifacts/f.txt"))
    assert [type(one) for one in asked] == [Evict] and plan.input is not None
    assert plan.input[-1].how == "evicted" and plan.input[-1].message.text.endswith("y" * 2_990)
    _, plan, _ = planned(policy(), talk, failing)
    assert not plan.changes


def test_at_the_end_of_a_turn_a_checkpoint_is_kept() -> None:
    plan = policy().plan(view_of(said(4), hook="end"))
    assert isinstance(plan.state, OpenHarnessRecord) and "m003" in plan.state.checkpoint
    assert policy(use_checkpoint=False).plan(view_of(said(4), hook="end")).state is None


def test_the_first_version_acts_by_hand_and_may_leave_results_without_calls() -> None:
    first = policy(automatic=False, llm_summary=False, pair_safe=False, digest_role="assistant")
    assert first.hooks == {"manual", "overflow"}
    talk = [*said(5), *worked(3)[1:], Message.user("on")]
    plan = first.plan(view_of(talk, hook="manual", words="4"))
    assert plan.input is not None and plan.input[0].message.role == "assistant"
    assert problems([one.message for one in plan.input])  # as recorded; live the guards complete the round


@pytest.mark.parametrize("setting", ["breaker_scope", "digest_keeps", "digest_role", "attempts", "padding", "hooks"])
def test_a_setting_that_is_not_valid_is_named(setting: str) -> None:
    with pytest.raises(ConfigError, match=setting):
        OpenHarnessConfig(**{setting: -1})


def test_sizes_below_the_least_are_raised_to_it() -> None:
    config = OpenHarnessConfig(micro_large_chars=1, inline_chars=1, preview_chars=1, image_tokens=1)
    found = config.micro_large_chars, config.inline_chars, config.preview_chars, config.image_tokens
    assert found == (256, 256, 128, 64)


def test_what_is_in_no_digest_and_no_request_is_counted_as_gone() -> None:
    talk = view_of(said(80))
    plan = policy().plan(talk)
    fates = {one.index: one.fate for one in plan.fates(talk)}
    assert fates[0] == "stood for" and fates[60] == "gone" and fates[79] == "kept"

    def answer(request: Request) -> Reply:
        assert isinstance(request, Ask)
        return summary(request) if 0 not in request.shown else Reply(None, Failure("overflow", "too long"))

    view, plan, _ = planned(policy(), view_of(said(16)), answer)
    assert [one.fate for one in plan.fates(view)][:3] == ["gone", "gone", "stood for"]
