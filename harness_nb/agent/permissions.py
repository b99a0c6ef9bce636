"""Who may do what: each tool is allowed, denied, or asked about; nobody to ask means no."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError

Permission = Literal["allow", "deny", "ask"]
Asker = Callable[[Tool, Mapping[str, Any]], bool]


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """Permissions of an agent's tools.

    Attributes:
        default: For a tool that is not named (default `allow`: a tool is there because the user gave it).
        tools: By name of a tool.
        effects: By effect (`read`, `write`, `run`), for tools that are not named.
        asker: Called with the tool and its arguments where the permission is `ask`; True allows. None: nobody to ask.
    """

    default: Permission = "allow"
    tools: Mapping[str, Permission] = field(default_factory=dict)
    effects: Mapping[str, Permission] = field(default_factory=dict)
    asker: Asker | None = None

    def __post_init__(self) -> None:
        for name, value in (("default", self.default), *self.tools.items(), *self.effects.items()):
            if value not in ("allow", "deny", "ask"):
                raise ConfigError(
                    f"Permission {name}={value!r} is not valid.", "Use 'allow', 'deny' or 'ask'.", subject=name
                )
        unknown = set(self.effects) - {"read", "write", "run"}
        if unknown:
            raise ConfigError(f"{sorted(unknown)[0]!r} is no effect of a tool.", "Use 'read', 'write' or 'run'.")

    def of(self, tool: Tool) -> Permission:
        """What holds for a tool."""
        return self.tools.get(tool.name) or self.effects.get(tool.effect) or self.default

    def refusal(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Why a call may not be made, or empty when it may. May ask somebody, and then waits for the answer."""
        permission = self.of(tool)
        if permission == "allow":
            return ""
        if permission == "deny":
            return f"The user does not allow {tool.name}."
        if self.asker is None:
            return f"{tool.name} needs the user's consent, and nobody is here to give it."
        return "" if self.asker(tool, arguments) else f"The user refused this call of {tool.name}."


def permissions_of(value: Permissions | Permission | Mapping[str, Permission] | None) -> Permissions:
    """Permissions from what a user may write: one word for all tools, a mapping by name, or the record itself."""
    if value is None:
        return Permissions()
    if isinstance(value, Permissions):
        return value
    if isinstance(value, str):
        return Permissions(default=value)
    return Permissions(tools=dict(value))
