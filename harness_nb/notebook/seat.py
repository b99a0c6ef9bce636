"""The agent that the magics use. It belongs to one magics object, never to the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness_nb.notebook.errors import MagicError

if TYPE_CHECKING:
    from harness_nb.agent.agent import HarnessAgent


class Seat:
    """Holds the agent in use and makes one when there is none.

    Args:
        defaults: Gives the settings of an agent made here, where the user names no others.
    """

    def __init__(self, defaults: Callable[[], dict[str, Any]]) -> None:
        self._defaults = defaults
        self._agent: HarnessAgent | None = None
        self._settings: dict[str, Any] | None = None
        self._made: list[HarnessAgent] = []

    @property
    def taken(self) -> HarnessAgent | None:
        """The agent in use, or None when there is none yet."""
        return self._agent

    @property
    def agent(self) -> HarnessAgent:
        """The agent in use, made with the defaults when there is none."""
        return self._agent if self._agent is not None else self.new()

    def new(self, name: str = "agent", **settings: Any) -> HarnessAgent:
        """Makes an agent and puts it in use.

        Raises:
            HarnessError: A setting is wrong; the agent in use stays.
        """
        from harness_nb.agent.agent import HarnessAgent

        chosen = self._defaults() | settings
        agent = HarnessAgent(name, **chosen)
        self._made.append(agent)
        self._agent, self._settings = agent, {"name": name, **chosen}
        return agent

    def use(self, agent: HarnessAgent) -> None:
        """Puts an agent of the user's in use; closing it is the user's."""
        self._agent, self._settings = agent, None

    def with_settings(self, settings: dict[str, Any]) -> HarnessAgent:
        """The agent in use with other settings: a model or a preset goes on with the session, a session is resumed.

        Raises:
            MagicError: The agent is the user's own and would lose what it was made with.
        """
        session = settings.get("session")
        others = {name: value for name, value in settings.items() if name != "session"}
        if not others:
            if session is not None and session != self.agent.session:
                self.agent.reset(session)
            return self.agent
        if self._agent is not None and self._settings is None:
            given = ", ".join(f"--{name}" for name in others)
            raise MagicError(
                f"{given} can't be changed on an agent of your own.",
                "Make another with HarnessAgent(...), or %agent new.",
            )
        kept = dict(self._settings or {})
        if self._agent is not None:
            kept["session"] = self._agent.session
        return self.new(**(kept | settings))

    def close(self) -> None:
        """Closes what was made here and forgets the agent in use."""
        for agent in self._made:
            agent.close()
        self._made, self._agent, self._settings = [], None, None
