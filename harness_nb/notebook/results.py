"""What magics answer with where the agent itself has no record for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.render.card import Card, Pre, Table, card_text
from harness_nb.render.cutoff_view import planned_card, shown_text
from harness_nb.render.results import card_bundle
from harness_nb.render.text import count

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.agent.agent import HarnessAgent
    from harness_nb.agent.results import Planned
    from harness_nb.model.base import ModelRequest


class Shown(ABC):
    """Something that shows itself by a card."""

    @abstractmethod
    def card(self) -> Card:
        """What it shows."""

    def __str__(self) -> str:
        return card_text(self.card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return card_bundle(self.card())


@dataclass(frozen=True, repr=False)
class ToolList(Shown):
    """The tools of an agent.

    Attributes:
        records: A mapping for each: name, effect, permission, description.
    """

    records: list[dict[str, Any]]

    @classmethod
    def of(cls, agent: HarnessAgent) -> ToolList:
        """The tools that an agent has."""
        return cls(
            [
                {
                    "name": tool.name,
                    "effect": tool.effect,
                    "permission": agent.permission_of(tool),
                    "description": tool.description,
                }
                for tool in agent.tools.values()
            ]
        )

    def __repr__(self) -> str:
        return f"ToolList({', '.join(record['name'] for record in self.records)})"

    @property
    def df(self) -> DataFrame:
        """One row a tool."""
        from harness_nb.frames import tools_frame

        return tools_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        rows = [(one["name"], one["effect"], one["permission"], one["description"]) for one in self.records]
        head = ("tool", "effect", "permission", "what the model is told")
        table = Table.of(head, rows, noun="tool", code=frozenset({"tool"}))
        return Card("Tools", count(len(rows), "tool"), (table,) if rows else ())


@dataclass(frozen=True, repr=False)
class SettingList(Shown):
    """The settings in force.

    Attributes:
        settings: By name.
        title: Of what.
    """

    settings: dict[str, Any]
    title: str = "Settings"

    def __repr__(self) -> str:
        return f"SettingList({len(self.settings)} settings)"

    @property
    def records(self) -> list[dict[str, str]]:
        """A mapping for each: name, value."""
        return [{"name": name, "value": value_words(value)} for name, value in self.settings.items()]

    @property
    def df(self) -> DataFrame:
        """One row a setting."""
        from harness_nb.frames import status_frame

        return status_frame(self.records)

    def card(self) -> Card:
        """What it shows."""
        rows = [(record["name"], record["value"]) for record in self.records]
        table = Table.of(("setting", "value"), rows, most=60, noun="setting", code=frozenset({"setting"}))
        return Card(self.title, "", (table,))


def value_words(value: object) -> str:
    """The value of a setting in words."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(str, value)))
    return f"{value:,}" if isinstance(value, int) else "off" if value is None else str(value)


@dataclass(frozen=True, repr=False)
class DryRun(Shown):
    """What would be sent; nothing was.

    Attributes:
        request: The first request of the turn.
        planned: What the policy would do before it.
    """

    request: ModelRequest
    planned: Planned

    def __repr__(self) -> str:
        return f"DryRun({len(self.request.messages)} messages, {self.planned.plan.outcome})"

    @property
    def df(self) -> DataFrame:
        """One row a message of the request."""
        from harness_nb.frames import messages_frame
        from harness_nb.frames.records import message_records

        return messages_frame(message_records(self.request.messages))

    def card(self) -> Card:
        """What it shows."""
        messages = self.request.messages
        measure = self.planned.view.measure
        rows = [(at, one.role, measure(one), shown_text(one)) for at, one in enumerate(messages)]
        plan = planned_card(self.planned.view, self.planned.plan, self.planned.policy)
        tools = ", ".join(tool.name for tool in self.request.tools) or "none"
        blocks = (
            Table.of(("", "role", "tokens", "text"), rows[-20:], noun="message"),
            Pre(messages[-1].text, caption="The message as it would be sent"),
            *(Pre(one.text, caption="System prompt", is_open=False) for one in messages[:1] if one.role == "system"),
            *plan.blocks,
        )
        line = f"{count(len(messages), 'message')}, tools: {tools}. {plan.title}: {plan.line}"
        return Card("Dry run: nothing was sent", line, blocks)
