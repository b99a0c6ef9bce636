"""The agent that a user makes: a model, a memory and a policy, over one session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.agent.about import rest_of
from harness_nb.agent.frames import AgentFrames
from harness_nb.agent.hooks import Emit, Hook, Watchers, telling
from harness_nb.agent.loop import Limits
from harness_nb.agent.opened import FLUSH_WAIT_SECONDS, Opened, open_session
from harness_nb.agent.parts import FROM_PRESET, FromPreset, put_together
from harness_nb.agent.permissions import Permission, Permissions, permissions_of
from harness_nb.agent.replacing import replace_input
from harness_nb.agent.results import (
    AgentReply,
    CompactionReport,
    FlushReport,
    Planned,
    reply_of,
)
from harness_nb.agent.runner import CarriedInterrupt, runner, streamed
from harness_nb.agent.state import AgentState
from harness_nb.agent.upkeep import Upkeep
from harness_nb.core.clock import Clock
from harness_nb.core.config import (
    CompactionConfig,
    MaintenanceConfig,
    MemoryConfig,
    PinsConfig,
    ToolResultEvictionConfig,
)
from harness_nb.core.events import CompactionFinished, Event
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Pressure
from harness_nb.core.tool import Tool
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.memory.recall import AgentMemory
from harness_nb.model.base import Model, ModelRequest
from harness_nb.presets import Preset
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.memory.consolidation_report import ConsolidationReport
    from harness_nb.memory.maintenance import Maintenance
    from harness_nb.memory.maintenance_report import MaintenanceReport


class HarnessAgent(AgentState):
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
        maintenance: When the memory is put in order in the background; None never. By default as the preset has it.
        pins: What stays word for word beside what the user pins, and how much; None for the preset's.
        tools: Functions or tools that the model may call.
        system_prompt: Text of one's own instead of the short default.
        permissions: `allow`, `deny` or `ask` for all tools, a mapping by name, or `Permissions`.
        max_steps: Most model requests in one turn (default 25).
        max_cost: Most US dollars for the session, as the provider reports them; None for no limit.
        window: Context window in tokens, where the model's own is not right.
        clock: The time and its zone.
        hooks: Functions called with each event.

    Attributes:
        last_reply: The answer of the last turn, or None.

    Raises:
        ConfigError: A setting is wrong; says which.
        StoreError: The workspace can't be used.
        SessionBusyError: The session is open in another process.
    """

    def __init__(
        self,
        name: str = "agent",
        *,
        model: str | Model = "offline",
        preset: str | Preset = "harness",
        workspace: str | Path | Workspace | None = None,
        session: str | None = None,
        compaction: CompactionConfig | FromPreset | None = FROM_PRESET,
        tool_result_eviction: ToolResultEvictionConfig | None = None,
        memory: MemoryConfig | None = None,
        maintenance: MaintenanceConfig | FromPreset | None = FROM_PRESET,
        pins: PinsConfig | None = None,
        tools: Iterable[Callable[..., Any] | Tool] = (),
        system_prompt: str | None = None,
        permissions: Permissions | Permission | Mapping[str, Permission] | None = None,
        max_steps: int = 25,
        max_cost: float | None = None,
        window: int | None = None,
        clock: Clock | None = None,
        hooks: Iterable[Hook] = (),
    ) -> None:
        self._watchers = Watchers()
        self._parts = put_together(
            name,
            model=model,
            preset=preset,
            workspace=workspace,
            compaction=compaction,
            eviction=tool_result_eviction,
            memory=memory,
            maintenance=maintenance,
            pins=pins,
            tools=tools,
            own_prompt=system_prompt,
            permissions=permissions_of(permissions),
            turn_limits=Limits(max_steps=max_steps, max_cost=max_cost),
            window=window,
            clock=clock,
            hooks=(*hooks, self._watchers),
        )
        self.last_reply: AgentReply | None = None
        self._opened = open_session(self._parts, session)
        self._upkeep = Upkeep(self._parts.design, self._parts.maintenance is not None, self._heard)

    # A turn

    def ask(self, text: str) -> AgentReply:
        """Runs a turn and waits for the answer; works in a cell, a script and a thread.

        Raises:
            HarnessError: The turn failed; what was said before stays in the session.
            KeyboardInterrupt: It was stopped; the session stays valid.
        """
        return runner.wait(self._turn(self._current(), _checked(text), _ignore))

    def follow(self, text: str) -> Iterator[Event]:
        """Runs a turn and yields its events in the calling thread, the pieces of the answer as they come.

        Closing the iterator stops the turn. After its end, `last_reply` is the answer.

        Raises:
            HarnessError: The turn failed, after the events that led there.
            KeyboardInterrupt: It was stopped.
        """
        words, opened = _checked(text), self._current()
        return runner.follow(lambda emit: self._turn(opened, words, emit))

    async def aask(self, text: str) -> AgentReply:
        """Runs a turn on the running event loop.

        Raises:
            HarnessError: The turn failed.
            KeyboardInterrupt: A tool was interrupted.
        """
        try:
            return await self._turn(self._current(), _checked(text), _ignore)
        except CarriedInterrupt:
            raise KeyboardInterrupt from None

    async def stream(self, text: str) -> AsyncGenerator[Event]:
        """Runs a turn on the running event loop and yields its events as they happen.

        Closing the iterator stops the turn. After its end, `last_reply` is the answer.

        Raises:
            HarnessError: The turn failed, after the events that led there.
            KeyboardInterrupt: A tool was interrupted.
        """
        words, opened = _checked(text), self._current()
        turn: AsyncGenerator[Event] = streamed(lambda emit: self._turn(opened, words, emit))
        async with aclosing(turn) as events:
            async for event in events:
                yield event

    async def _turn(self, opened: Opened, text: str, emit: Emit) -> AgentReply:
        found: list[Event] = []

        def take(event: Event) -> None:
            found.append(event)
            emit(event)

        self._upkeep.start()
        await opened.turn(text, take)
        self.last_reply = reply_of(found, self.workspace.clean)
        return self.last_reply

    def watch(self, hook: Hook) -> Callable[[], None]:
        """Calls a function with each event from now on, in the thread of the loop; gives a function that ends this."""
        return self._watchers.add(hook)

    # The context

    def plan(self) -> Planned:
        """What would be compacted now; nothing is done, asked or paid."""
        return self._planned(self.view())

    def dry_run(self, text: str) -> tuple[ModelRequest, Planned]:
        """The request that a turn would send first, and the plan before it; nothing is done or sent."""
        words, talk = _checked(text), self._opened.session.conversation
        around, messages = self._opened.loop.request()
        message = Message.user(words, time=talk.now())
        view = replace(
            self.view(),
            log=talk.log.append(message),
            input=talk.input.append(Item(len(talk.log), message)),
            turn=len(talk.log),
        )
        return ModelRequest(messages=(*messages, message), tools=around.tools), self._planned(view)

    def _planned(self, view: View) -> Planned:
        policy = self.preset.policy
        if policy is None:
            return Planned(view, view.unchanged("compaction is off"))
        return Planned(view, policy.plan(view), policy.name)

    def compact(self, words: str = "") -> CompactionReport:
        """Compacts now, whatever the triggers say.

        Args:
            words: What the user wants the policy to know.

        Raises:
            SessionBusyError: A turn or another compaction is running.
        """
        return runner.wait(self._compact(self._current(), words))

    async def acompact(self, words: str = "") -> CompactionReport:
        """`compact` on the running event loop."""
        return await self._compact(self._current(), words)

    async def _compact(self, opened: Opened, words: str) -> CompactionReport:
        found: list[Event] = []
        await opened.compact(words, found.append)
        return CompactionReport(tuple(event for event in found if isinstance(event, CompactionFinished)))

    def replace_messages(self, messages: Iterable[Message | Mapping[str, Any]]) -> CompactionReport:
        """Lets the model see a list of your own from now on, such as your own summary and the last turns.

        The log keeps all that was said, and what is pinned stays. A resumed session goes on with the new list.

        Args:
            messages: Messages, also in OpenAI chat format. Those that were said are recognised.

        Raises:
            MessageError: A provider would refuse the list; says at which position. Nothing has changed.
            SessionBusyError: A turn or a compaction is running.
            StoreError: The session's log can't be written; nothing has changed.
        """
        found: list[Event] = []
        opened = self._current()
        with opened.busy():
            replace_input(
                opened.session, opened.around()[0], messages, telling(self._parts.hooks, opened.session, found.append)
            )
        return CompactionReport(tuple(event for event in found if isinstance(event, CompactionFinished)))

    def flush(self) -> FlushReport:
        """Takes the facts to the daily log, now, from all that was said and not read yet; each message is read once."""
        return runner.wait(self._flush(self._current()))

    async def _flush(self, opened: Opened) -> FlushReport:
        found: list[Event] = []
        await opened.flush(found.append)
        return FlushReport(tuple(found))

    def pin(self, what: str | int) -> Pin:
        """Keeps a text word for word through every compaction from now on, and shows it to the model at once.

        Args:
            what: The text, or the index of a message of the session whose text it is.

        Raises:
            ConfigError: There is no such message, it has no text, or the pins would be too long together.
            SessionBusyError: A turn or a compaction is running.
        """
        with self._current().busy():
            return self._opened.pinning.add(what)

    def unpin(self, what: str | int | Pin) -> Pin:
        """Takes a pin away.

        Args:
            what: Its text, its number in `pins`, or the pin itself.

        Raises:
            ConfigError: There is no such pin.
            SessionBusyError: A turn or a compaction is running.
        """
        with self._current().busy():
            return self._opened.pinning.remove(what)

    def pressure(self) -> Pressure:
        """How full the context is, as the policy sees it, and why compaction rests."""
        view, plan = self.view(), self.plan().plan
        return replace(plan.pressure or view.pressure(), rest=rest_of(self._opened, view))

    # Memory and sessions

    @property
    def memory(self) -> AgentMemory:
        """The durable memory; a flush under way is waited for first."""
        self._opened.flushing.wait(FLUSH_WAIT_SECONDS)
        return self._parts.design.memory

    def consolidate(self) -> ConsolidationReport:
        """Merges into MEMORY.md what was noted and is not merged yet; a change that loses much waits for review.

        Raises:
            ConfigError: The memory has no consolidation.
        """
        return self.memory.consolidate()

    def maintain(self) -> MaintenanceReport:
        """Puts the memory in order now: expire, consolidate, prune, reindex; a step that fails harms no other.

        Raises:
            ConfigError: The memory has nothing to keep in order.
        """
        self._opened.flushing.wait(FLUSH_WAIT_SECONDS)
        return self._upkeep.run()

    @property
    def maintenance(self) -> Maintenance:
        """When the memory is put in order next, what came of it last, and past runs.

        Raises:
            ConfigError: The memory has nothing to keep in order.
        """
        return self._upkeep.maintenance

    def _heard(self, event: Event) -> None:
        """Takes an event of the memory, in any thread; it is written with the next that the session writes."""
        self._opened.session.record(event)
        telling(self._parts.hooks, self._opened.session, _ignore)(event)

    @property
    def frames(self) -> AgentFrames:
        """Data frames of the session."""
        return AgentFrames(self)

    def reset(self, session: str | None = None) -> str:
        """Begins or resumes another session; returns its id. The memory stays, and so does the session that is left.

        Raises:
            SessionBusyError: A turn is running, or the other session is open in another process; nothing has changed.
        """
        self._opened.check_idle()
        opened = open_session(self._parts, session)
        self._opened.leave()
        self._opened, self.last_reply = opened, None
        return self.session

    def close(self) -> None:
        """Ends a flush under way, writes what is pending, gives the session up and closes the index's file.

        The agent and its memory can be used again; then it takes the session up from its files.

        Raises:
            SessionBusyError: A turn is running.
        """
        self._opened.leave()
        self._upkeep.stop()
        self._parts.index.release()

    def __enter__(self) -> HarnessAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Name, model and preset; no ids, addresses or times."""
        return f"HarnessAgent({self.name!r}, model={self._parts.limits.name!r}, preset={self.preset.name!r})"

    def _current(self) -> Opened:
        """The open session; taken up again from its files when it was closed, or another agent took it over."""
        if not self._opened.is_mine:
            self._opened = open_session(self._parts, self.session)
        return self._opened


def _checked(text: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise ConfigError("There is nothing to send: the message is empty.", "Write what you want to ask.")
    return text


def _ignore(_: Event) -> None:
    """Takes an event that nobody waits for."""
