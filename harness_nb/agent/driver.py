"""The driver: carries out what a policy plans. It asks for everything that can fail and changes nothing before the end.

`manage` is a generator without any input or output of its own. It yields what is to be done and is sent what came of
it, so that the live loop, a replay, a sweep and the conformance runner differ only in who answers.

How a replay uses it::

    steps = manage(conversation, policy, "request", around)
    answer = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration as stop:
            passes = stop.value          # tuple[Pass, ...], one for each plan
            break
        answer = respond(effect)         # a Reply for a request; None (or a Failure) for Leaving; None for Begun
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace

from harness_nb.agent import guards
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Failure, Reply, Request, Unknown
from harness_nb.core.view import Hook, Refusal, View


@dataclass(frozen=True, slots=True)
class Begun:
    """Work for a plan begins. Nothing is expected in answer."""

    view: View
    ahead: Plan


@dataclass(frozen=True, slots=True)
class Leaving:
    """Messages are about to leave the model input: write down what must not be lost.

    A `Failure` in answer ends the pass; None lets it go on.
    """

    view: View
    indices: tuple[int, ...]


Effect = Request | Begun | Leaving
Answer = Reply | Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One plan and what came of it.

    Attributes:
        view: What the policy was given, the replies included.
        plan: The plan as carried out.
        outcome: `completed`, `skipped` or `failed`; `quiet` when there was nothing to do.
        reason: In words.
        repairs: What guards changed.
        asked: Requests made, with their replies, in order.
        tokens_before: Size of the model input before, by the session's measure.
        tokens_after: The same after.
    """

    view: View
    plan: Plan
    outcome: str
    reason: str
    repairs: tuple[str, ...] = ()
    asked: tuple[tuple[Request, Reply], ...] = field(default=())
    tokens_before: int = 0
    tokens_after: int = 0


def manage(
    conversation: Conversation,
    policy: CompactionPolicy,
    hook: Hook,
    around: Surroundings,
    *,
    words: str = "",
    error: Refusal | None = None,
    guarded: bool = True,
    offload: bool = True,
) -> Generator[Effect, Answer, tuple[Pass, ...]]:
    """Lets a policy act at one point of the loop.

    Args:
        conversation: Changed only when a plan is carried out.
        policy: Says what is to happen.
        hook: Why now.
        around: What is sent beside the messages.
        words: What the user typed with a manual call.
        error: The provider's refusal, with `overflow`.
        guarded: False is a system as shipped, faults included: for recordings, never live.
        offload: Whether messages that leave must be written down first.

    Yields:
        What is to be done: a request, `Begun`, or `Leaving`.

    Returns:
        One pass for each plan, the quiet ones left out.
    """
    if hook not in policy.hooks:
        return ()
    passes: list[Pass] = []
    done: tuple[Plan, ...] = ()
    while not done or (done[-1].again and len(done) < policy.passes):
        view = conversation.view(hook, around, done=done, words=words, error=error)
        passed = yield from _one_pass(conversation, policy, view, guarded, offload)
        if passed.outcome != "quiet":
            passes.append(passed)
        if passed.outcome in ("failed", "skipped"):
            break
        done = (*done, passed.plan)
    return tuple(passes)


def _one_pass(
    conversation: Conversation, policy: CompactionPolicy, view: View, guarded: bool, offload: bool
) -> Generator[Effect, Answer, Pass]:
    ahead = policy.plan(view)
    before = view.tokens
    asked_for = view.hook in ("manual", "overflow")
    if guarded and (ahead.changes or asked_for):
        why = guards.before(view, ahead, conversation.stall)
        if why:
            return _unchanged(view, ahead, "skipped", why, before)
    if ahead.changes or asked_for:
        yield Begun(view, ahead)
    leaving = ahead.leaving(view)
    if leaving and offload:
        failure = yield Leaving(view, leaving)
        if isinstance(failure, Failure):
            conversation.failed(failure.detail, before)
            return _unchanged(view, ahead, "failed", f"nothing was replaced: {failure.detail}", before)
    view, plan, asked = yield from _strictly(policy, view)
    verdict = guards.after(view, plan) if guarded else guards.Verdict(plan)
    return _carried_out(conversation, view, verdict, asked, ahead.changes or asked_for, before)


def _carried_out(
    conversation: Conversation,
    view: View,
    verdict: guards.Verdict,
    asked: tuple[tuple[Request, Reply], ...],
    is_attempt: bool,
    before: int,
) -> Pass:
    """Commits what the guards let through, and notes whether it was progress."""
    plan = verdict.plan
    conversation.commit(view, plan)
    after = view.tokens_of(plan.input) if plan.input is not None else before
    if plan.changes:
        outcome, reason = "completed", plan.reason
    elif verdict.refusal or plan.outcome == "failed":
        outcome, reason = "failed", verdict.refusal or plan.reason
    else:
        outcome, reason = ("skipped" if is_attempt else "quiet"), plan.reason
    if plan.changes and before - after >= guards.LEAST_GAIN * before:
        conversation.succeeded()
    elif outcome in ("completed", "failed"):
        conversation.failed(reason if outcome == "failed" else f"it gained only {before - after:,} tokens", after)
    return Pass(
        view=view,
        plan=plan,
        outcome=outcome,
        reason=reason,
        repairs=verdict.repairs,
        asked=asked,
        tokens_before=before,
        tokens_after=after,
    )


def _unchanged(view: View, ahead: Plan, outcome: str, reason: str, tokens: int) -> Pass:
    plan = replace(ahead, input=None, state=view.state, again=False, remember=())
    return Pass(view=view, plan=plan, outcome=outcome, reason=reason, tokens_before=tokens, tokens_after=tokens)


def _strictly(
    policy: CompactionPolicy, view: View
) -> Generator[Effect, Answer, tuple[View, Plan, tuple[tuple[Request, Reply], ...]]]:
    """Plans until every reply is known; each unknown one is asked for once."""
    view = replace(view, strict=True)
    asked: list[tuple[Request, Reply]] = []
    while True:
        try:
            return view, policy.plan(view), tuple(asked)
        except Unknown as signal:
            request = signal.request
        answer = yield request
        reply = answer if isinstance(answer, Reply) else Reply(None, answer or Failure("error", "nobody answered"))
        view = view.learn(request, reply)
        asked.append((request, reply))
