"""The loop: one user message, and everything up to the final answer to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness_nb.agent.calls import INTERRUPTED, Outcome, result_message, run_call
from harness_nb.agent.conversation import Surroundings
from harness_nb.agent.eviction import is_too_large
from harness_nb.agent.guards import hopeless
from harness_nb.agent.overflow import learn, refusal_of, still_too_long
from harness_nb.agent.partial import Partial
from harness_nb.agent.permissions import Permissions
from harness_nb.agent.pinning import Pinning
from harness_nb.agent.runner import CarriedInterrupt
from harness_nb.agent.session import Session
from harness_nb.agent.steering import Steering
from harness_nb.core import edits, events
from harness_nb.core.config import ToolResultEvictionConfig, positive, whole
from harness_nb.core.events import Event
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.preview import placeholder
from harness_nb.core.tool import Tool
from harness_nb.core.wire import alternating
from harness_nb.errors import BudgetError, ContextOverflowError, HarnessError, ModelError, StoreError
from harness_nb.model.base import Model, ModelRequest, TextDelta, ThinkingDelta
from harness_nb.model.truncation import overflow_in, truncation_warning
from harness_nb.store.workspace import Workspace

Emit = Callable[[Event], None]

SET_ASIDE_CHARS = 200
"""Characters of head and of tail that stay of a user message which was too long to send."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one turn.

    Attributes:
        max_steps: Most model requests.
        max_cost: Most US dollars of the session as the provider reports them, or None.

    Raises:
        ConfigError: A limit is not valid.
    """

    max_steps: int
    max_cost: float | None = None

    def __post_init__(self) -> None:
        whole(self, "max_steps", least=1)
        if self.max_cost is not None:
            positive(self, "max_cost")


class Loop:
    """Runs turns of one session.

    Args:
        agent: Name of the agent, for files.
        model: Answers.
        session: What was said, and its files.
        steering: Carries out what the policy plans.
        pinning: Heeds the user's standing instructions.
        asked: Gives what a compaction that the model asked for is to heed, or None.
        around: Gives what is sent beside the messages, and the memory block.
        tools: Tools by name.
        permissions: Who may do what.
        limits: Limits of one turn.
        eviction: Moves large results to files; None switches it off.
        workspace: Holds the files.
    """

    def __init__(
        self,
        *,
        agent: str,
        model: Model,
        session: Session,
        steering: Steering,
        pinning: Pinning,
        asked: Callable[[], str | None],
        around: Callable[[], tuple[Surroundings, Message | None]],
        tools: Mapping[str, Tool],
        permissions: Permissions,
        limits: Limits,
        eviction: ToolResultEvictionConfig | None,
        workspace: Workspace,
    ) -> None:
        self.agent = agent
        self.model = model
        self.session = session
        self.steering = steering
        self.pinning = pinning
        self.asked = asked
        self.around = around
        self.tools = tools
        self.permissions = permissions
        self.limits = limits
        self.eviction = eviction
        self.workspace = workspace

    async def turn(self, text: str, emit: Emit) -> None:
        """Runs one turn; every end of it, good or bad, leaves a list that a provider takes.

        Args:
            text: The user's message, as typed.
            emit: Called with each event as it happens.

        Raises:
            HarnessError: The turn could not be ended; what was said before stays.
            CarriedInterrupt: The user interrupted a tool or the model.
        """
        import asyncio

        session = self.session
        say = self._saying(emit)
        index = session.begin_turn(Message.user(text, time=session.conversation.now()))
        say(events.TurnStarted, text=text, index=index)
        for pin in self.pinning.heed(index):
            say(events.Pinned, text=pin.text, source=pin.source, index=pin.index)
        partial = Partial(session.write_so_far)
        try:
            session.save()
            await self.steering.at("turn", self._beside, emit)
            await self._steps(say, emit, partial)
        except (asyncio.CancelledError, KeyboardInterrupt, CarriedInterrupt) as interrupt:
            self._break_off("interrupted", partial)
            say(events.Interrupted, text=partial.text)
            self._save_at_last(say)
            if isinstance(interrupt, KeyboardInterrupt):
                raise CarriedInterrupt from None
            raise
        except Exception as error:
            self._break_off("error", partial)
            if isinstance(error, ContextOverflowError):
                self._set_aside(index, say)
            said = error.problem if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
            say(events.TurnFailed, error=said, text=partial.text)
            self._save_at_last(say)
            raise

    def _break_off(self, status: str, partial: Partial) -> None:
        """Makes whole what a turn that did not come to its end leaves behind."""
        self.session.request_failed()
        self._close_open_calls(status)
        self._keep(partial)

    def _set_aside(self, index: int, say: Say) -> None:
        """Moves a user message that no request can carry to a file, so that the session can go on without it."""
        talk = self.session.conversation
        message = talk.log[index]
        if hopeless(talk.view("overflow", self._beside())) is None:
            return
        try:
            path = self.workspace.evict(self.agent, f"message-{index}", message.text)
        except StoreError as error:
            say(events.Warned, about="eviction", text=f"The message stays in the list: {error.problem}")
            return
        shown = placeholder(message.text, path, preview_chars=SET_ASIDE_CHARS, can_read="read_file" in self.tools)
        if len(shown) < len(message.text):
            self.session.show(edits.evicted(Item(index, message), shown, path))
            say(
                events.Warned,
                about="eviction",
                text=f"The message was too long to send and went to {path}, so that the session can go on.",
            )

    def _save_at_last(self, say: Say) -> None:
        """Writes down how the turn ended; where that fails, the reason why it ended goes before."""
        try:
            self.session.save()
        except StoreError as error:
            say(events.Warned, about="store", text=f"The end of the turn is not written down yet. {error.problem}")

    # Steps

    async def _steps(self, say: Say, emit: Emit, partial: Partial) -> None:
        usages: list[Usage] = []
        for step in range(1, self.limits.max_steps + 1):
            self._check_budget()
            reply = await self._reply(step, say, emit, partial)
            usages += [reply.usage] if reply.usage is not None else []
            if not reply.calls:
                return await self._end(reply, step, usages, say, emit)
            await self._run_calls(reply.calls, say)
            await self.steering.at("result", self._beside, emit)
        raise BudgetError(
            f"The turn reached its limit of {self.limits.max_steps} steps.", "Raise max_steps, or ask for less at once."
        )

    async def _end(self, reply: Message, step: int, usages: Sequence[Usage], say: Say, emit: Emit) -> None:
        await self.steering.at("end", self._beside, emit)
        around = self._beside()
        tokens = self.session.conversation.view("end", around).tokens
        say(
            events.TurnFinished,
            text=reply.text,
            steps=step,
            usage=total(usages),
            tokens=tokens,
            window=around.model.window,
        )
        self.session.save()

    def _check_budget(self) -> None:
        limit = self.limits.max_cost
        if limit is None:
            return
        if self.session.cost >= limit:
            raise BudgetError(
                f"The session has cost ${self.session.cost:.4f} and its limit is ${limit:.4f}.",
                "Raise max_cost to go on.",
            )

    async def _reply(self, step: int, say: Say, emit: Emit, partial: Partial) -> Message:
        """Asks the model; after an overflow once more, on what one forced compaction left."""
        words = self.asked()
        if words is not None:
            await self.steering.at("manual", self._beside, emit, words=words)
        await self.steering.at("request", self._beside, emit)
        try:
            return await self._request(step, say, partial)
        except ContextOverflowError as error:
            self.session.request_failed()
            if not self.steering.recovers:
                say(events.Warned, about="overflow", text=self._no_recovery())
                raise error.__cause__ or error from None
            if self.steering.recovered_turn == self.session.turns:
                raise self._still_too_long(error, "one compaction was not enough") from error
            await self._recover(error, say, emit)
        try:
            return await self._request(step, say, partial)
        except ContextOverflowError as error:
            raise self._still_too_long(error, "one compaction was not enough") from error

    def _no_recovery(self) -> str:
        """Why a refusal as too long is handed on as it is."""
        policy = self.steering.policy
        why = f"{policy.name!r} does nothing about that by itself" if policy is not None else "compaction is off"
        return f"The provider refused the input as too long, and {why}: its error is passed on."

    def _still_too_long(self, error: ContextOverflowError, why: str) -> ContextOverflowError:
        return still_too_long(self.session.conversation.view("overflow", self._beside()), error, why)

    async def _recover(self, error: ContextOverflowError, say: Say, emit: Emit) -> None:
        """One forced compaction for a turn.

        Raises:
            ContextOverflowError: It changed nothing.
        """
        self.steering.recovered_turn = self.session.turns
        refusal = refusal_of(error)
        learn(self.session.conversation, refusal, self._beside())
        say(events.Warned, about="overflow", text=f"The provider refused the input as too long: {error.problem}")
        passes = await self.steering.at("overflow", self._beside, emit, error=refusal)
        if not any(one.outcome == "completed" for one in passes):
            why = passes[-1].reason if passes else "nothing could be compacted"
            raise self._still_too_long(error, why) from error

    async def _request(self, step: int, say: Say, partial: Partial) -> Message:
        """Sends the list once; the reply is kept, the pieces before it only when nothing more comes."""
        for note in self.session.mend():
            say(events.Warned, about="repair", text=f"Before sending: {note}.")
        around, messages = self.request()
        estimate = self.session.conversation.view("request", around).tokens
        self.session.save()
        begun = time.monotonic()
        partial.clear()
        reply: Message | None = None
        asked = ModelRequest(messages=messages, tools=around.tools, max_tokens=None)
        async for piece in self.model.stream(asked):
            if isinstance(piece, Message):
                reply = piece
            elif isinstance(piece, TextDelta):
                partial.add(piece.text)
                say(events.TextPiece, text=piece.text)
            elif isinstance(piece, ThinkingDelta):
                say(events.ThinkingPiece, text=piece.text)
        if reply is None:
            raise ModelError(f"{around.model.name!r} ended its stream without a reply.", "Ask again.")
        silent = overflow_in(reply, around.model.window)
        if silent is not None:
            raise silent
        reply = replace(reply, time=reply.time or self.session.conversation.now())
        self.session.add(reply)
        partial.taken()
        self._look_at(reply, estimate, around, say)
        seconds = time.monotonic() - begun
        say(events.StepFinished, step=step, estimate=estimate, usage=reply.usage, seconds=round(seconds, 3))
        return reply

    def request(self) -> tuple[Surroundings, tuple[Message, ...]]:
        """What would be sent now: system prompt, memory block, and the list."""
        around, memory = self.around()
        outgoing = self.session.conversation.outgoing
        talk = outgoing.messages[:]
        system = [around.system] if around.system else []
        if self.session.conversation.has_system_items:
            system += [message.text for message in talk if message.role == "system"]
            talk = tuple(message for message in talk if message.role != "system")
        head = (Message.system("\n\n".join(system)),) if system else ()
        front = (*head, memory) if memory is not None else head
        messages = front + talk
        return around, alternating(messages) if around.model.alternates else messages

    def _look_at(self, reply: Message, estimate: int, around: Surroundings, say: Say) -> None:
        warning = truncation_warning(reply, estimated_tokens=estimate, window=around.model.window)
        if warning:
            say(events.Warned, about="truncated", text=warning)
        if reply.is_blank:
            say(events.Warned, about="blank", text="The model's reply was blank.")

    # Tools

    async def _run_calls(self, calls: Sequence[ToolCall], say: Say) -> None:
        """Runs the calls of one reply in their order; each result is written down as soon as it is there."""
        for call in calls:
            say(events.CallStarted, call_id=call.id, name=call.name, arguments=call.arguments)
            self.session.save()
            begun = time.monotonic()
            outcome = await run_call(call, self.tools, self.permissions)
            message = result_message(call, outcome, time=self.session.conversation.now())
            self._take_result(call, message, say)
            say(
                events.CallFinished,
                call_id=call.id,
                name=call.name,
                status=outcome.status,
                chars=len(outcome.text),
                text=outcome.text,
                seconds=round(time.monotonic() - begun, 3),
            )

    def _take_result(self, call: ToolCall, message: Message, say: Say) -> None:
        index = self.session.add(message)
        tool = self.tools.get(call.name)
        if self.eviction is None or (tool is not None and not tool.evicts) or not is_too_large(message, self.eviction):
            return
        try:
            path = self.workspace.evict(self.agent, call.id, message.text, folder=self.eviction.eviction_path)
        except StoreError as error:
            say(events.Warned, about="eviction", text=f"A large result stays whole: {error.problem}")
            return
        shown = placeholder(
            message.text, path, preview_chars=self.eviction.preview_chars, can_read="read_file" in self.tools
        )
        if len(shown) < len(message.text):
            self.session.show(edits.evicted(Item(index, message), shown, path))
            say(events.ResultEvicted, call_id=call.id, path=path, chars=len(message.text))

    def _close_open_calls(self, status: str) -> None:
        """Answers calls that will get no result any more, so that the list stays valid."""
        for call in self.session.conversation.open_calls():
            text = INTERRUPTED if status == "interrupted" else "[not run: the turn ended in an error]"
            self.session.add(result_message(call, Outcome(text, "interrupted"), origin="harness"))

    def _keep(self, partial: Partial) -> None:
        """Keeps the text of an answer that did not come to its end, marked as such; never a part of a call."""
        if partial.text.strip():
            self.session.add(
                Message.assistant(partial.text, finish="interrupted", time=self.session.conversation.now())
            )

    def _beside(self) -> Surroundings:
        return self.around()[0]

    def _saying(self, emit: Emit) -> Say:
        return Say(self.session, emit)


class Say:
    """Makes events of the turn in progress, keeps them in the session, and hands them on."""

    def __init__(self, session: Session, emit: Emit) -> None:
        self._session = session
        self._emit = emit

    def __call__(self, kind: type[Event], **fields: object) -> None:
        """Makes one event."""
        event = kind(time=self._session.conversation.now(), turn=self._session.turns, **fields)
        self._emit(self._session.record(event) if event.is_stored else event)


def total(usages: Sequence[Usage]) -> Usage | None:
    """The sum of what a provider reported, or None when it reported nothing."""
    if not usages:
        return None
    costs = [one.cost for one in usages if one.cost is not None]
    return Usage(
        input_tokens=sum(one.input_tokens for one in usages),
        output_tokens=sum(one.output_tokens for one in usages),
        cached_tokens=sum(one.cached_tokens for one in usages),
        cost=sum(costs) if costs else None,
    )
