"""The driver: carries out what a policy plans. It asks for everything that can fail and changes nothing before the end.

`manage` is a generator without any input or output of its own. It yields what is to be done and is sent what came of
it, so that the live loop, a replay, a sweep and the conformance runner differ only in who answers.

How a replay uses it::

    passes = finished(manage(conversation, policy, "request", around), respond)   # one for each plan

where `respond(effect)` gives a `Reply` for a request, None (or a `Failure`) for `Leaving`, and None for `Begun`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, cast

from harness_nb.agent import guards
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Failure, Replies, Reply, Request, Unknown
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.errors import ModelError


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
Answer = Reply | Failure | Replies | None
Result = TypeVar("Result")


def finished(steps: Generator[Effect, Answer, Result], respond: Callable[[Effect], Answer]) -> Result:
    """Runs the driver to its end, each effect answered at once."""
    answer: Answer = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration as end:
            return cast(Result, end.value)
        answer = respond(effect)


class Stopped(BaseException):
    """Thrown into `manage` to end it where it stands: an interrupt, which is no failure of policy or model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One plan and what came of it.

    Attributes:
        view: What the policy was given, the replies included.
        plan: The plan as carried out.
        outcome: `completed`, `skipped` or `failed`; `noted` when something was put behind the list for one request;
            `quiet` when there was nothing to do.
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
    asked: tuple[tuple[Request, Reply], ...] = ()
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
    assumes: bool = False,
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
        assumes: Whether every reply is assumed, so that no request is made and the plan on assumptions is final.

    Yields:
        What is to be done: a request, `Begun`, or `Leaving`.

    Returns:
        One pass for each plan, the quiet ones left out. When `Stopped` is thrown into it, the last one has failed.
    """
    if hook not in policy.hooks:
        return ()
    if hook == "manual":
        conversation.stall = None
    passes: list[Pass] = []
    done: tuple[Plan, ...] = ()
    while not done or (done[-1].again and len(done) < policy.passes):
        view = conversation.view(hook, around, done=done, words=words, error=error, strict=True)
        view = replace(view, replies=Replies()) if assumes else view
        carry_out = _guarded if guarded else _as_shipped
        try:
            passed = yield from carry_out(conversation, policy, view, offload)
        except Stopped as stop:
            plan = Plan(state=view.state, outcome="failed", reason=str(stop))
            return (*passes, _unchanged(view, plan, "failed", str(stop), view.tokens))
        if passed.outcome != "quiet":
            passes.append(passed)
        if passed.outcome in ("failed", "skipped"):
            break
        done = (*done, passed.plan)
    lasting = [one for one in passes if one.plan.lasts != "request" or not one.plan.changes]
    if lasting:
        _judge(conversation, lasting)
    return tuple(passes)


Steps = Generator[Effect, Answer, Pass]


def _guarded(conversation: Conversation, policy: CompactionPolicy, view: View, offload: bool) -> Steps:
    """One pass under the guards. A policy that fails does not cost the user's turn: the pass has failed, no more."""
    before = view.tokens
    try:
        ahead, wanted = _looked_ahead(policy, view)
        why = guards.before(view, ahead, conversation.stall)
        if why:
            return _unchanged(view, ahead, "skipped", why, before)
        failure = yield from _begun(view, ahead, offload)
        if failure is not None:
            return _unchanged(view, ahead, "failed", f"nothing was replaced: {failure.detail}", before)
        view, plan = (yield from _strictly(policy, view, wanted)) if wanted is not None else (view, ahead)
        verdict = guards.after(view, plan)
        failure = yield from _more_leaving(view, ahead, verdict.plan, offload)
        if failure is not None:
            return _unchanged(view, verdict.plan, "failed", f"nothing was replaced: {failure.detail}", before)
        return _carried_out(conversation, view, verdict, _is_attempt(view, ahead), before)
    except Exception as error:  # noqa: BLE001 - a user's own policy may raise anything
        said = f"policy {policy.name!r} failed: {type(error).__name__}: {error}{_where(error)}"
        return _unchanged(view, Plan(outcome="failed", reason=said), "failed", said, before)


def _where(error: Exception) -> str:
    """The line of a user's own code in which a policy failed; empty where that is none."""
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_PACKAGE)
    ]
    mine = [one for one in own if one[0].co_filename == own[0][0].co_filename]
    return f" (line {mine[-1][1]}, in {mine[-1][0].co_name})" if mine else ""


_PACKAGE = str(Path(__file__).parent.parent)


def _as_shipped(conversation: Conversation, policy: CompactionPolicy, view: View, offload: bool) -> Steps:
    """One pass of a system with its faults: what it plans is carried out."""
    before = view.tokens
    ahead, wanted = _looked_ahead(policy, view)
    failure = yield from _begun(view, ahead, offload)
    if failure is not None:
        return _unchanged(view, ahead, "failed", f"nothing was replaced: {failure.detail}", before)
    view, plan = (yield from _strictly(policy, view, wanted)) if wanted is not None else (view, ahead)
    return _carried_out(conversation, view, guards.Verdict(plan), _is_attempt(view, ahead), before)


def _looked_ahead(policy: CompactionPolicy, view: View) -> tuple[Plan, Request | None]:
    """The plan on assumptions, and what has to be asked first; None where it rests on none, as at most requests."""
    try:
        return _planned(policy, view), None
    except Unknown as signal:
        return _planned(policy, replace(view, strict=False)), signal.request


def _planned(policy: CompactionPolicy, view: View) -> Plan:
    plan = policy.plan(view)
    if not isinstance(plan, Plan):
        raise TypeError(f"plan(view) gave {plan!r}; give view.becomes(...) or view.unchanged(...)")
    return plan


def _is_attempt(view: View, ahead: Plan) -> bool:
    """Whether somebody should hear what came of it, even when nothing changes."""
    return (ahead.changes and not ahead.only_adds(view)) or view.hook in ("manual", "overflow")


def _begun(view: View, ahead: Plan, offload: bool) -> Generator[Effect, Answer, Failure | None]:
    """Says that work begins and has written down what leaves; a failure of that ends the pass."""
    if _is_attempt(view, ahead):
        yield Begun(view, ahead)
    leaving = ahead.leaving(view) if offload else ()
    answer = (yield Leaving(view, leaving)) if leaving else None
    return answer if isinstance(answer, Failure) else None


def _more_leaving(view: View, ahead: Plan, plan: Plan, offload: bool) -> Generator[Effect, Answer, Failure | None]:
    """Has written down what leaves on the replies that came and did not on those that were assumed."""
    if plan.changes and not (plan.only_adds(view) or _is_attempt(view, ahead)):
        yield Begun(view, plan)
    more = tuple(sorted({*plan.leaving(view)} - {*ahead.leaving(view)})) if offload else ()
    answer = (yield Leaving(view, more)) if more else None
    return answer if isinstance(answer, Failure) else None


def _carried_out(
    conversation: Conversation, view: View, verdict: guards.Verdict, is_attempt: bool, before: int
) -> Pass:
    """Commits what the guards let through."""
    plan = verdict.plan
    conversation.commit(view, plan)
    if verdict.refusal or plan.outcome == "failed" or plan.error is not None:
        outcome, reason = "failed", verdict.refusal or plan.reason
    elif plan.only_adds(view) and not is_attempt:
        outcome, reason = "noted", plan.reason
    elif plan.changes or plan.remember:
        outcome, reason = "completed", plan.reason
    else:
        outcome, reason = ("skipped" if is_attempt else "quiet"), plan.reason
    return Pass(
        view=view,
        plan=plan,
        outcome=outcome,
        reason=reason,
        repairs=verdict.repairs,
        asked=tuple(view.replies.items()),
        tokens_before=before,
        tokens_after=view.tokens_of(plan.input) if plan.input is not None else before,
    )


def _judge(conversation: Conversation, passes: Sequence[Pass]) -> None:
    """Notes whether a call was progress, so that one that was not is not made again and again."""
    last = passes[-1]
    if last.outcome == "noted":
        return
    was, now = passes[0].tokens_before, last.tokens_after
    if last.outcome != "failed" and not any(one.plan.changes for one in passes):
        return
    if last.outcome == "failed":
        conversation.failed(last.reason, last.view)
    elif last.outcome == "completed" and was - now < guards.LEAST_GAIN * was:
        conversation.failed(f"it gained only {was - now:,} tokens", last.view)
    elif last.outcome == "completed":
        firing = guards.firing_after(last.view, last.plan)
        if firing:
            found = " and ".join(f"{one.value:,} of {one.threshold:,} {one.unit}" for one in firing)
            conversation.is_stuck(f"the last one left {found}", last.view, firing)
        else:
            conversation.succeeded()


def _unchanged(view: View, ahead: Plan, outcome: str, reason: str, tokens: int) -> Pass:
    error = None if isinstance(ahead.error, ModelError) else ahead.error  # it costs the user no turn
    plan = replace(ahead, input=None, state=view.state, again=False, remember=(), error=error)
    return Pass(view=view, plan=plan, outcome=outcome, reason=reason, tokens_before=tokens, tokens_after=tokens)


def _strictly(policy: CompactionPolicy, view: View, request: Request) -> Generator[Effect, Answer, tuple[View, Plan]]:
    """Plans until every reply is known; each unknown one, of which the first is given, is asked for once.

    Who answers at once gives `Replies` instead of the first: the plan is made with them, and once only.
    """
    while True:
        answer = yield request
        if isinstance(answer, Replies):
            view = replace(view, replies=answer)
            return view, _planned(policy, view)
        reply = answer if isinstance(answer, Reply) else Reply(None, answer or Failure("error", "nobody answered"))
        view = view.learn(request, reply)
        try:
            return view, _planned(policy, view)
        except Unknown as signal:
            request = signal.request
