"""Carries out, live, what the driver says is to be done: model calls, files, and the events about them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass

from harness_nb.agent.conversation import Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving, Pass, Stopped, manage
from harness_nb.agent.session import Session
from harness_nb.core.events import CompactionFinished, CompactionStarted, Event
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Evict, Failure, Reply
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.errors import (
    ContextOverflowError,
    HarnessError,
    MissingKeyError,
    ModelError,
    QuotaError,
    RateLimitError,
    StoreError,
)
from harness_nb.model.base import Model, ModelRequest, complete
from harness_nb.store.workspace import Workspace

ASK_SECONDS = 120.0
"""Longest wait for one model call of a policy, unless the policy says otherwise."""

Leave = Callable[[View, tuple[int, ...]], Awaitable[None]]
Driving = Generator[Effect, Answer, tuple[Pass, ...]]


@dataclass(frozen=True, slots=True)
class Driven:
    """What came of one call of the driver.

    Attributes:
        passes: One for each plan, the quiet ones left out.
        begun: Passes that were said to begin, by how many plans had been carried out before.
        interrupt: What stopped it, or None.
    """

    passes: tuple[Pass, ...]
    begun: frozenset[int]
    interrupt: BaseException | None


class Steering:
    """Lets one session's policy act.

    Args:
        session: Whose list it is.
        policy: Says what is to happen; None switches compaction off.
        model: Answers the policy's model calls.
        resolve: Gives another model by name.
        workspace: Holds evicted texts.
        agent: Name of the agent, for files.
        leave: Called before messages leave the list, to extract facts; what fails there is its own affair.
        offload: Whether the session file must hold messages before they leave.
        remember: Takes a policy's texts for the durable memory.
    """

    def __init__(
        self,
        *,
        session: Session,
        policy: CompactionPolicy | None,
        model: Model,
        resolve: Callable[[str], Model],
        workspace: Workspace,
        agent: str,
        leave: Leave | None = None,
        offload: bool = True,
        remember: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        self.session = session
        self.policy = policy
        self.recovered_turn = 0
        self._model = model
        self._resolve = resolve
        self._workspace = workspace
        self._agent = agent
        self._leave = leave
        self._offload = offload
        self._remember = remember
        self._said = ""

    @property
    def recovers(self) -> bool:
        """Whether the policy acts after an overflow."""
        return self.policy is not None and "overflow" in self.policy.hooks

    async def at(
        self,
        hook: Hook,
        around: Callable[[], Surroundings],
        emit: Callable[[Event], None],
        *,
        words: str = "",
        error: Refusal | None = None,
    ) -> tuple[Pass, ...]:
        """Lets the policy act at one point of the loop; what came of it stands in events and files.

        Args:
            hook: Which point.
            around: Gives what is sent beside the messages.
            emit: Called with each event.
            words: What the user typed with a manual call.
            error: The provider's refusal, with `overflow`.

        Raises:
            HarnessError: The policy says that the turn must not go on.
        """
        if self.policy is None or hook not in self.policy.hooks:
            return ()
        began = time.monotonic()
        steps = manage(self.session.conversation, self.policy, hook, around(), words=words, error=error)
        driven = await self._driven(steps, hook, emit)
        for one in driven.passes:
            if one.outcome == "noted":
                emit(self.session.warned("compaction", f"{one.reason[:1].upper()}{one.reason[1:]}."))
            elif not self._is_said(one, hook):
                if len(one.view.done) not in driven.begun:
                    self._begin(Begun(one.view, one.plan), hook, emit)
                self._finish(one, hook, emit, time.monotonic() - began)
        if driven.interrupt is not None:
            raise driven.interrupt
        if driven.passes and driven.passes[-1].plan.error is not None:
            raise driven.passes[-1].plan.error
        return driven.passes

    async def _driven(self, steps: Driving, hook: Hook, emit: Callable[[Event], None]) -> Driven:
        """Does what the driver says until it is done; an interrupt ends it, and is part of what came of it."""
        begun: set[int] = set()
        answer: Answer = None
        interrupt: BaseException | None = None
        while True:
            try:
                effect = steps.send(answer) if interrupt is None else steps.throw(Stopped("it was interrupted"))
            except StopIteration as end:
                return Driven(end.value, frozenset(begun), interrupt)
            if isinstance(effect, Begun):
                begun.add(len(effect.view.done))
            try:
                answer = await self._respond(effect, hook, emit)
            except BaseException as error:  # noqa: BLE001 - raised again once the passes are told
                interrupt = error

    async def _respond(self, effect: Effect, hook: Hook, emit: Callable[[Event], None]) -> Answer:
        if isinstance(effect, Begun):
            self._begin(effect, hook, emit)
            return None
        if isinstance(effect, Leaving):
            return await self._leaving(effect)
        if isinstance(effect, Ask):
            return await self._ask(effect, emit)
        if isinstance(effect, Evict):
            return self._evict(effect)
        return Reply(None, Failure("error", f"nobody answers a {type(effect).__name__} here"))

    async def _leaving(self, effect: Leaving) -> Failure | None:
        if self._offload:
            try:
                self.session.save()
            except StoreError as error:
                return Failure("error", f"the messages could not be written down: {error.problem}")
        if self._leave is not None:
            await self._leave(effect.view, effect.indices)
        return None

    async def _ask(self, request: Ask, emit: Callable[[Event], None]) -> Reply:
        """Asks the model, as often as the request says; every failure becomes a reply."""
        reply = Reply(None, Failure("error", "not asked"))
        for _ in range(max(1, request.attempts)):
            reply = await self._attempt(request, emit)
            if reply.failure is None or reply.failure.kind in ("overflow", "quota", "permission"):
                break
        return reply

    async def _attempt(self, request: Ask, emit: Callable[[Event], None]) -> Reply:
        import asyncio

        began = time.monotonic()
        try:
            model = self._resolve(request.model) if request.model is not None else self._model
            asked = ModelRequest(messages=request.messages, purpose=request.purpose, max_tokens=request.max_tokens)
            async with asyncio.timeout(request.timeout_seconds or ASK_SECONDS):
                message = await complete(model, asked)
        except TimeoutError:
            return Reply(None, Failure("timeout", "the model did not answer in time"))
        except HarnessError as error:
            return Reply(None, Failure(_kind(error), error.problem))
        except Exception as error:  # noqa: BLE001 - a user's own model may raise anything; the turn goes on
            return Reply(None, Failure("error", f"{type(error).__name__}: {error}"))
        if message.usage is not None:
            emit(self.session.spent(request.purpose, message.usage, time.monotonic() - began))
        if request.blank_fails and not message.text.strip():
            return Reply(None, Failure("blank", "the reply was blank"))
        return Reply(self._workspace.clean(message.text), finish=message.finish)

    def _evict(self, request: Evict) -> Reply:
        try:
            return Reply(self._workspace.evict(self._agent, request.call_id, request.text))
        except StoreError as error:
            return Reply(None, Failure("error", error.problem))

    # Events

    def _begin(self, begun: Begun, hook: Hook, emit: Callable[[Event], None]) -> None:
        event = CompactionStarted(
            time=self.session.conversation.now(),
            turn=self.session.turns,
            policy=self.policy.name if self.policy is not None else "",
            hook=hook,
            reason=begun.ahead.reason,
            tokens=begun.view.tokens,
            messages=len(begun.view.input),
        )
        self.session.record(event)
        emit(event)

    def _is_said(self, one: Pass, hook: Hook) -> bool:
        """Whether a rest was said already, in the same words: it is said once."""
        said, before = f"{one.outcome}: {one.reason}", self._said
        self._said = said
        return one.outcome == "skipped" and hook == "request" and said == before

    def _finish(self, one: Pass, hook: Hook, emit: Callable[[Event], None], seconds: float) -> None:
        """Stores the list when it changed, and says what happened."""
        self.session.passes.append(one)
        event = finished_event(one, hook, self.policy.name if self.policy is not None else "", self.session, seconds)
        self.session.record(event)
        if one.plan.changes and one.plan.lasts != "request":
            try:
                self.session.save_list()
            except StoreError as error:
                emit(self.session.warned("store", f"The new list is not stored; the session goes on. {error.problem}"))
        if one.plan.remember and self._remember is not None:
            self._remember(one.plan.remember)
        emit(event)


def finished_event(one: Pass, hook: Hook, policy: str, session: Session, seconds: float) -> CompactionFinished:
    """What came of a pass, as an event."""
    left = set(one.plan.leaving(one.view))
    fates = [fate for fate in one.plan.fates(one.view) if fate.index in left] if left else []
    return CompactionFinished(
        time=session.conversation.now(),
        turn=session.turns,
        policy=policy,
        hook=hook,
        outcome=one.outcome,
        reason=one.reason,
        detail=one.plan.outcome,
        tokens_before=one.tokens_before,
        tokens_after=one.tokens_after,
        messages_before=len(one.view.input),
        messages_after=len(one.plan.input) if one.plan.input is not None else len(one.view.input),
        summarised=sum(fate.fate == "stood for" for fate in fates),
        gone=sum(fate.fate == "gone" for fate in fates),
        model_calls=sum(isinstance(request, Ask) for request, _ in one.asked),
        repairs=one.repairs,
        fixed_tokens=one.view.fixed_tokens,
        plan_number=len(session.passes),
        left=tuple(sorted(left)),
        seconds=round(seconds, 3),
    )


def _kind(error: HarnessError) -> str:
    kinds: tuple[tuple[type[HarnessError], str], ...] = (
        (ContextOverflowError, "overflow"),
        (RateLimitError, "rate_limit"),
        (QuotaError, "quota"),
        (MissingKeyError, "permission"),
        (ModelError, "server_error"),
    )
    return next((kind for cls, kind in kinds if isinstance(error, cls)), "error")
