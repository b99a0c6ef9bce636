"""What a test looks at in an agent: its requests, and whether a provider would take them."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.events import Event
from harness_nb.core.messages import Message
from harness_nb.core.rounds import problems
from harness_nb.model.base import ModelRequest
from harness_nb.model.scripted import ScriptedModel

E = TypeVar("E", bound=Event)


def chats(agent: HarnessAgent, purpose: str = "chat") -> list[ModelRequest]:
    """The requests of one purpose that reached the scripted model."""
    assert isinstance(agent.model, ScriptedModel)
    return [request for request in agent.model.requests if request.purpose == purpose]


def talk_of(request: ModelRequest) -> list[Message]:
    """The messages of a request behind the system prompt."""
    return [message for message in request.messages if message.role != "system"]


def all_valid(agent: HarnessAgent) -> bool:
    """Whether a provider takes every request of the loop, and the list as it stands."""
    lists = [list(request.messages) for request in chats(agent)]
    now = [item.message for item in agent.view().input]
    return all(problems(one) == () for one in lists) and problems(now, needs_reply=False) == ()


def events(agent: HarnessAgent, kind: type[E]) -> list[E]:
    """The agent's events of one kind."""
    return [event for event in agent.events if isinstance(event, kind)]


def log_records(agent: HarnessAgent, kind: str) -> list[dict[str, Any]]:
    """The records of one kind in the session's log on disk."""
    files = agent.workspace.session(agent.name, agent.session)
    lines = files.log_path.read_text(encoding="utf-8").splitlines()
    return [record for line in lines if (record := json.loads(line)).get("kind") == kind]
