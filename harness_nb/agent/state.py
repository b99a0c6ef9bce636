"""What can be read of an agent at any time; nothing here changes anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.agent.about import course_of, sessions_of, settings_of, status_of, warnings_of
from harness_nb.agent.driver import Pass
from harness_nb.agent.opened import Opened
from harness_nb.agent.parts import Parts
from harness_nb.agent.permissions import Permission
from harness_nb.agent.pinning import PinList
from harness_nb.agent.results import AgentStatus, SessionList
from harness_nb.core.events import Event
from harness_nb.core.messages import Message
from harness_nb.core.tool import Tool
from harness_nb.core.view import View
from harness_nb.model.base import Model
from harness_nb.presets import Preset
from harness_nb.store.workspace import Workspace


class AgentState:
    """An agent's parts, its session and how it stands."""

    _parts: Parts
    _opened: Opened

    def view(self) -> View:
        """All that a policy may know of the conversation now."""
        return self._opened.view()

    @property
    def memory_tokens(self) -> int:
        """Estimated tokens of the injected memory."""
        return self._opened.around()[0].memory_tokens

    def course(self) -> tuple[tuple[int, int, int, int, str | None], ...]:
        """Sizes over the session: (turn, step, tokens, window, mark), a point for each request, marked compactions."""
        return course_of(self.events, self.view().model.window)

    @property
    def plans(self) -> tuple[Pass, ...]:
        """Every plan of this process that was carried out, refused or failed, in order; the first has the number 1."""
        return tuple(self._opened.session.passes)

    @property
    def name(self) -> str:
        """Name of the agent."""
        return self._parts.name

    @property
    def model(self) -> Model:
        """What answers."""
        return self._parts.model

    @property
    def preset(self) -> Preset:
        """Its policy and settings."""
        return self._parts.preset

    @property
    def workspace(self) -> Workspace:
        """Holds its files."""
        return self._parts.workspace

    @property
    def tools(self) -> Mapping[str, Tool]:
        """What the model may call, by name."""
        return self._parts.tools

    @property
    def session(self) -> str:
        """Id of the session."""
        return self._opened.session.id

    @property
    def events(self) -> tuple[Event, ...]:
        """All events since the agent was made or took the session up, the pieces of streams left out."""
        return tuple(self._opened.session.events)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said in the session."""
        return self._opened.session.conversation.log[:]

    def sessions(self) -> SessionList:
        """The sessions of the workspace, of all agents."""
        return sessions_of(self._parts, self._opened)

    def status(self) -> AgentStatus:
        """How the agent stands: model, session, sizes, costs, warnings."""
        return status_of(self._parts, self._opened)

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting in force by name: the preset's, those of eviction and memory, and the limits of a turn."""
        return settings_of(self._parts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: an assumed window, repairs of a resumed session, a memory that can't be read."""
        return warnings_of(self._parts, self._opened)

    def permission_of(self, tool: Tool) -> Permission:
        """What holds for one of its tools."""
        return self._parts.permissions.of(tool)

    @property
    def pins(self) -> PinList:
        """What stays word for word through every compaction; shows itself."""
        return self._opened.pinning.pins

    @property
    def host(self) -> dict[str, object]:
        """What the host tells policies, for all sessions of this agent; the text `plan` comes back after a summary."""
        return self._parts.host
