"""The agent that a user makes: a model, a memory and a policy, over one session."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from harness_nb.agent.calls import ToolInterrupted
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.flushing import Flushing
from harness_nb.agent.frames import AgentFrames
from harness_nb.agent.loop import Limits, Loop, total
from harness_nb.agent.permissions import Permission, Permissions, permissions_of
from harness_nb.agent.prompt import system_prompt as prompt_of
from harness_nb.agent.results import AgentReply, AgentStatus, CompactionReport, Planned, SessionList, without_pieces
from harness_nb.agent.runner import runner
from harness_nb.agent.session import Session
from harness_nb.agent.steering import Steering
from harness_nb.core.clock import Clock
from harness_nb.core.config import CompactionConfig, MemoryConfig, ToolResultEvictionConfig, positive, whole
from harness_nb.core.events import CompactionFinished, Event, StepFinished, TurnFinished, Warned
from harness_nb.core.messages import Message
from harness_nb.core.plan import Pressure
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.tool import Tool
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, HarnessError, SessionBusyError
from harness_nb.memory.design import TwoLayers
from harness_nb.memory.recall import AgentMemory
from harness_nb.model.base import Model, ModelRequest
from harness_nb.model.offline import OfflineModel
from harness_nb.model.resolve import resolve
from harness_nb.model.scripted import ScriptedModel
from harness_nb.presets import Preset
from harness_nb.presets import get as get_preset
from harness_nb.store.workspace import DEFAULT_PATH, Workspace

Hook = Callable[[Event], object]


class _FromPreset:
    """Stands for a setting that is the preset's."""

    def __repr__(self) -> str:
        return "<the preset's>"


FROM_PRESET: Final = _FromPreset()

FLUSH_GRACE_SECONDS = 0.2
"""How long a blocking call waits after its answer for the facts of the turn, so that a fast model's are there."""

FLUSH_WAIT_SECONDS = 10.0
"""How long a look into the memory, or closing, waits for a flush under way."""


class HarnessAgent:
    """An agent in the kernel that remembers.

    Args:
        name: Name of the agent; its sessions lie below it in the workspace.
        model: `offline`, `local`, a name of litellm, or a model itself.
        preset: Name of a preset, or one made by `presets.get`.
        workspace: Folder of its memory; `.harness_nb/workspace` by default.
        session: Id of a session to resume or begin; None begins a new one, named after the time.
        compaction: Settings that replace the preset's; None switches compaction off.
        tool_result_eviction: When large results go to files; None switches it off.
        memory: What the durable memory does; None for the preset's.
        tools: Functions or tools that the model may call.
        system_prompt: Text of one's own instead of the short default.
        permissions: `allow`, `deny` or `ask` for all tools, a mapping by name, or `Permissions`.
        max_steps: Most model requests in one turn (default 25).
        max_cost: Most US dollars for the session, as the provider reports them; None for no limit.
        window: Context window in tokens, where the model's own is not right.
        clock: The time and its zone.
        hooks: Functions called with each event.

    Raises:
        ConfigError: A setting is wrong; says which.
        StoreError: The workspace can't be used.
    """

    def __init__(
        self,
        name: str = "agent",
        *,
        model: str | Model = "offline",
        preset: str | Preset = "harness",
        workspace: str | Path | Workspace | None = None,
        session: str | None = None,
        compaction: CompactionConfig | _FromPreset | None = FROM_PRESET,
        tool_result_eviction: ToolResultEvictionConfig | None = None,
        memory: MemoryConfig | None = None,
        tools: Iterable[Callable[..., Any] | Tool] = (),
        system_prompt: str | None = None,
        permissions: Permissions | Permission | Mapping[str, Permission] | None = None,
        max_steps: int = 25,
        max_cost: float | None = None,
        window: int | None = None,
        clock: Clock | None = None,
        hooks: Iterable[Hook] = (),
    ) -> None:
        self.max_steps, self.max_cost = max_steps, max_cost
        whole(self, "max_steps", least=1)
        if max_cost is not None:
            positive(self, "max_cost")
        self.name = _named(name)
        self.preset = _preset(preset, compaction)
        self.model = resolve(model, **({} if window is None or not isinstance(model, str) else {"window": window}))
        self._limits = self._limits_with(window if not isinstance(model, str) else None)
        self._hooks = tuple(hooks)
        self.last_reply: AgentReply | None = None
        self._own_prompt = system_prompt
        self._eviction = _eviction(tool_result_eviction)
        self._permissions = permissions_of(permissions)
        self._clock = clock or Clock()
        self.workspace = workspace if isinstance(workspace, Workspace) else self._workspace(workspace)
        self.workspace.ensure()
        self._config = memory or self.preset.memory
        self._measure = Measure(self._counter())
        self._design = TwoLayers(self.workspace, self._index(), self.model, self._config)
        self.tools = self._all_tools(tools)
        self._begin(session)

    # A turn

    def ask(self, text: str) -> AgentReply:
        """Runs a turn and waits for the answer; works in a cell, a script and a thread.

        Raises:
            HarnessError: The turn failed; what was said before stays in the session.
            KeyboardInterrupt: It was stopped; the session stays valid.
        """
        return self._reply_of(list(self.follow(text)))

    def follow(self, text: str) -> Iterator[Event]:
        """Runs a turn and yields its events in the calling thread, the pieces of the answer as they come.

        At its end `last_reply` is the answer.

        Raises:
            HarnessError: The turn failed, after the events that led there.
            KeyboardInterrupt: It was stopped.
        """
        words = self._checked_text(text)
        found: list[Event] = []
        try:
            yield from runner.follow(self._work(words, found))
        except ToolInterrupted:
            raise KeyboardInterrupt from None
        self._reply_of(found)

    def _work(self, text: str, found: list[Event]) -> Callable[[Callable[[Event], None]], Coroutine[Any, Any, None]]:
        """A turn that keeps its events beside handing them on."""

        def work(emit: Callable[[Event], None]) -> Coroutine[Any, Any, None]:
            def both(event: Event) -> None:
                found.append(event)
                emit(event)

            return self._turn(text, both, FLUSH_GRACE_SECONDS)

        return work

    async def aask(self, text: str) -> AgentReply:
        """Runs a turn on the running event loop.

        Raises:
            HarnessError: The turn failed.
        """
        found: list[Event] = []
        await self._turn(self._checked_text(text), found.append, FLUSH_GRACE_SECONDS)
        return self._reply_of(found)

    async def stream(self, text: str) -> AsyncIterator[Event]:
        """Runs a turn on the running event loop and yields its events as they happen.

        Raises:
            HarnessError: The turn failed, after the events that led there.
        """
        import asyncio

        events: asyncio.Queue[Event | None] = asyncio.Queue()
        turn = asyncio.ensure_future(self._turn(self._checked_text(text), events.put_nowait, FLUSH_GRACE_SECONDS))
        turn.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await turn
        finally:
            if not turn.done():
                turn.cancel()
                await asyncio.wait([turn])

    async def _turn(self, text: str, emit: Callable[[Event], None], grace_seconds: float) -> None:
        if not self._session.busy.acquire(blocking=False):
            raise SessionBusyError(
                f"Session {self.session!r} is in the middle of a turn.", "Wait for it, or use another session."
            )
        try:
            await self._loop.turn(text, self._emitting(emit))
        finally:
            self._session.busy.release()
        await self._flush_after_turn(emit, grace_seconds)

    async def _flush_after_turn(self, emit: Callable[[Event], None], grace_seconds: float) -> None:
        """Starts the flush of the turn and stays for a moment, so that quick facts are part of what the caller sees."""
        import asyncio

        if not self._design.flushes_after_turn:
            return
        late: list[Event] = []
        job = self._flushing.start(self._emitting(late.append))
        if job is not None:
            await asyncio.wait([asyncio.wrap_future(job.future)], timeout=grace_seconds)
        for event in late:
            emit(event)

    def watch(self, hook: Hook) -> Callable[[], None]:
        """Calls a function with each event from now on, in the thread of the loop; gives a function that ends this."""
        self._hooks = (*self._hooks, hook)

        def end() -> None:
            self._hooks = tuple(one for one in self._hooks if one is not hook)

        return end

    def _emitting(self, emit: Callable[[Event], None]) -> Callable[[Event], None]:
        """Hands events to the hooks, too; a hook that fails is reported once an event and harms nothing."""

        def both(event: Event) -> None:
            emit(event)
            for hook in self._hooks:
                try:
                    hook(event)
                except Exception as error:  # noqa: BLE001 - a user's hook may raise anything
                    said = f"{getattr(hook, '__name__', hook)!r} failed: {type(error).__name__}: {error}"
                    failed = Warned(time=event.time, turn=event.turn, about="hook", text=said)
                    self._session.record(failed)
                    emit(failed)

        return both

    def _reply_of(self, events: list[Event]) -> AgentReply:
        end = next((event for event in reversed(events) if isinstance(event, TurnFinished)), None)
        if end is None:
            raise HarnessError("The turn ended without an answer.", "Look at agent.events, and ask again.")
        text = self.workspace.clean(end.text)
        self.last_reply = AgentReply(text, without_pieces(events), end.usage, end.tokens, end.window)
        return self.last_reply

    def _checked_text(self, text: str) -> str:
        if not isinstance(text, str) or not text.strip():
            raise ConfigError("There is nothing to send: the message is empty.", "Write what you want to ask.")
        return text

    # The context

    def view(self) -> View:
        """All that a policy may know of the conversation now."""
        return self._session.conversation.view("request", self._around()[0])

    def plan(self) -> Planned:
        """What would be compacted now; nothing is done, asked or paid."""
        view = self.view()
        policy = self.preset.policy
        if policy is None:
            return Planned(view, view.unchanged("compaction is off"))
        return Planned(view, policy.plan(view), policy.name)

    def dry_run(self, text: str) -> tuple[ModelRequest, Planned]:
        """The request that a turn would send first, and the plan before it; nothing is done or sent."""
        words = self._checked_text(text)
        talk = self._session.conversation
        around, messages = self._loop.request()
        message = Message.user(words, time=talk.now())
        view = replace(
            self.view(),
            log=talk.log.append(message),
            input=talk.input.append(_item(len(talk.log), message)),
            turn=len(talk.log),
        )
        policy = self.preset.policy
        plan = policy.plan(view) if policy is not None else view.unchanged("compaction is off")
        planned = Planned(view, plan, policy.name if policy is not None else "")
        return ModelRequest(messages=(*messages, message), tools=around.tools), planned

    def compact(self, words: str = "") -> CompactionReport:
        """Compacts now, whatever the triggers say.

        Args:
            words: What the user wants the policy to know.

        Raises:
            SessionBusyError: A turn or another compaction is running.
        """
        return runner.wait(self.acompact(words))

    async def acompact(self, words: str = "") -> CompactionReport:
        """`compact` on the running event loop."""
        if not self._session.busy.acquire(blocking=False):
            raise SessionBusyError(
                f"Session {self.session!r} is in the middle of a turn or a compaction.", "Wait for it, then try again."
            )
        found: list[Event] = []
        try:
            await self._steering.at("manual", self._around()[0], self._emitting(found.append), words=words)
        finally:
            self._session.busy.release()
        self._session.save()
        return CompactionReport(tuple(event for event in found if isinstance(event, CompactionFinished)))

    def pressure(self) -> Pressure:
        """How full the context is, as the policy sees it."""
        plan = self.plan().plan
        return plan.pressure or self.view().pressure()

    @property
    def memory_tokens(self) -> int:
        """Estimated tokens of the injected memory."""
        return self._around()[0].memory_tokens

    def course(self) -> tuple[tuple[int, int, int, int, str | None], ...]:
        """Sizes over the session: (turn, step, tokens, window, mark), a point for each request, marked compactions."""
        points: list[tuple[int, int, int, int, str | None]] = []
        step = 0
        for event in self._session.events:
            if isinstance(event, StepFinished):
                size = event.usage.input_tokens if event.usage is not None else event.estimate
                step = event.step
                points.append((event.turn, step, size, self._limits.window, None))
            elif isinstance(event, CompactionFinished) and event.outcome == "completed":
                points.append((event.turn, step, event.tokens_before, self._limits.window, None))
                points.append((event.turn, step, event.tokens_after, self._limits.window, event.detail))
        return tuple(points)

    # Sessions and state

    @property
    def session(self) -> str:
        """Id of the session."""
        return self._session.id

    @property
    def events(self) -> tuple[Event, ...]:
        """All events since the agent was made or took the session up, the pieces of streams left out."""
        return without_pieces(self._session.events)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said in the session."""
        return self._session.conversation.log[:]

    @property
    def memory(self) -> AgentMemory:
        """The durable memory; a flush under way is waited for first."""
        self._flushing.wait(FLUSH_WAIT_SECONDS)
        return self._design.memory

    @property
    def frames(self) -> AgentFrames:
        """Data frames of the session."""
        return AgentFrames(self)

    def reset(self, session: str | None = None) -> str:
        """Begins or resumes another session; returns its id. The memory stays, and so does the session that is left."""
        if self._session.busy.locked():
            raise SessionBusyError(f"Session {self.session!r} is in the middle of a turn.", "Wait for it first.")
        self._session.save()
        self._begin(session)
        return self.session

    def sessions(self) -> SessionList:
        """The sessions of the workspace, of all agents."""
        return SessionList(
            [
                {
                    "agent": files.agent,
                    "session": files.session_id,
                    "last_activity": files.last_activity(),
                    "is_current": files.log_path == self._session.files.log_path,
                }
                for files in self.workspace.sessions()
            ]
        )

    def status(self) -> AgentStatus:
        """How the agent stands: model, session, sizes, costs, warnings."""
        view = self.view()
        log = self._session.conversation.log
        billed = total([message.usage for message in log if message.usage is not None])
        return AgentStatus(
            name=self.name,
            model=self._limits.name,
            key_source=getattr(self.model, "key_source", ""),
            preset=self.preset.name,
            policy=self.preset.policy.name if self.preset.policy is not None else "",
            session=self.session,
            workspace=self.workspace.name,
            window=self._limits.window,
            window_source=self._limits.window_source,
            tokens=view.tokens,
            tokens_source=view.figure.source,
            turns=self._session.turns,
            messages=len(log),
            cost=billed.cost if billed is not None else None,
            warnings=self.warnings,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting in force by name: the preset's, those of eviction and memory, and the limits of a turn."""
        groups = {"tool_result_eviction": self._eviction, "memory": self._config}
        found: dict[str, Any] = {"preset": self.preset.name, **self.preset.settings}
        for name, group in groups.items():
            if group is None:
                found[name] = None
            else:
                found |= {f"{name}.{one.name}": getattr(group, one.name) for one in fields(group)}
        return found | {"max_steps": self.max_steps, "max_cost": self.max_cost, "window": self._limits.window}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: an assumed window, repairs of a resumed session, a memory that can't be read."""
        from harness_nb.model.windows import window_warning

        found = [window_warning(self._limits), self._design.injection(self._measure.counter).problem]
        return (*(text for text in found if text), *self._session.warnings)

    def permission_of(self, tool: Tool) -> Permission:
        """What holds for one of its tools."""
        return self._permissions.of(tool)

    def close(self) -> None:
        """Waits for a flush under way, writes what is pending and closes the index."""
        self._flushing.wait(FLUSH_WAIT_SECONDS)
        self._session.save()
        self._design.index.close()

    def __enter__(self) -> HarnessAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Name, model and preset; no ids, addresses or times."""
        return f"HarnessAgent({self.name!r}, model={self._limits.name!r}, preset={self.preset.name!r})"

    # Making

    def _begin(self, session: str | None) -> None:
        files = self.workspace.session(self.name, session if session is not None else self._new_id())
        about = {"agent": self.name, "model": self._limits.name, "preset": self.preset.name}
        policy = self.preset.policy
        self._session = Session(files, Conversation(self._measure, self._now), policy, about)
        self.last_reply = None
        self._flushing = Flushing(self._session, self._design)
        config = policy.settings if policy is not None else {}
        self._steering = Steering(
            session=self._session,
            policy=policy,
            model=self.model,
            resolve=resolve,
            workspace=self.workspace,
            agent=self.name,
            leave=self._leave if config.get("flush_before_compact", False) else None,
            offload=bool(config.get("offload_before_compact", True)),
            remember=None,
        )
        self._loop = Loop(
            agent=self.name,
            model=self.model,
            session=self._session,
            steering=self._steering,
            around=self._around,
            tools=self.tools,
            permissions=self._permissions,
            limits=Limits(max_steps=self.max_steps, max_cost=self.max_cost),
            eviction=self._eviction,
            workspace=self.workspace,
        )

    async def _leave(self, view: View, indices: tuple[int, ...]) -> None:
        await self._flushing.before_leaving(view, indices, self._emitting(lambda _: None))

    def _around(self) -> tuple[Surroundings, Message | None]:
        injection = self._design.injection(self._measure.counter)
        around = replace(self._fixed, memory_tokens=injection.tokens) if injection.tokens else self._fixed
        return around, injection.message

    @functools.cached_property
    def _fixed(self) -> Surroundings:
        """What is sent at every request and stays the same."""
        tools = tuple(self.tools.values())
        system = prompt_of(
            self._own_prompt, tools=self.tools, injects=self._config.inject, flushes=self._design.flushes_after_turn
        )
        return Surroundings(
            model=self._limits,
            system=system,
            tools=tools,
            system_tokens=self._measure.text(system),
            tool_tokens=self._measure.tools(tools),
        )

    def _limits_with(self, window: int | None) -> Any:
        limits = self.model.limits
        if window is not None:
            limits = replace(limits, window=window, window_source="user")
        return self.preset.limits(limits)

    def _workspace(self, path: str | Path | None) -> Workspace:
        return Workspace(DEFAULT_PATH if path is None else path, clock=self._clock)

    def _index(self) -> Any:
        from harness_nb.store.index import MemoryIndex

        return MemoryIndex.of(self.workspace)

    def _counter(self) -> Any:
        """The model's own way of counting where it is cheap, else a tokenizer."""
        if isinstance(self.model, OfflineModel | ScriptedModel):
            return CharsCounter()
        from harness_nb.model.tokenizer import counter_for

        return counter_for(self._limits.name)

    def _all_tools(self, own: Iterable[Callable[..., Any] | Tool]) -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for tool in (*self._design.tools(), *map(Tool.of, own)):
            if tool.name in found:
                raise ConfigError(f"There are two tools named {tool.name!r}.", "Rename one.", subject=tool.name)
            found[tool.name] = tool
        return found

    def _now(self) -> datetime:
        return self.workspace.clock.now()

    def _new_id(self) -> str:
        """An id after the time that no session of the agent has yet."""
        stem = self._now().strftime("%Y-%m-%d-%H%M%S")
        number = 1
        name = stem
        while self.workspace.session(self.name, name).exists:
            number += 1
            name = f"{stem}-{number}"
        return name


def _named(name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"name={name!r} is no name.", "Give the agent a short name.", subject="name")
    return name.strip()


def _preset(preset: str | Preset, compaction: CompactionConfig | _FromPreset | None) -> Preset:
    found = preset if isinstance(preset, Preset) else get_preset(preset)
    if isinstance(compaction, _FromPreset):
        return found
    if compaction is not None and not isinstance(compaction, CompactionConfig):
        raise ConfigError(
            f"compaction={compaction!r} is not valid.", "Give a CompactionConfig, or None to switch it off."
        )
    return found.with_compaction(compaction)


def _eviction(settings: ToolResultEvictionConfig | None) -> ToolResultEvictionConfig | None:
    if settings is not None and not isinstance(settings, ToolResultEvictionConfig):
        raise ConfigError(
            f"tool_result_eviction={settings!r} is not valid.", "Give a ToolResultEvictionConfig, or None."
        )
    return settings


def _item(index: int, message: Message) -> Any:
    from harness_nb.core.item import Item

    return Item(index, message)
