"""What every memory design starts from: it injects nothing, offers no tools and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.core.messages import Message
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.memory.blocking import Blocking, in_thread
from harness_nb.memory.injection import Injection
from harness_nb.memory.recall import AgentMemory
from harness_nb.model.base import Model
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.memory.flush import FlushOutcome
    from harness_nb.memory.maintenance import Maintenance
    from harness_nb.store.index import MemoryIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignParts:
    """What a durable memory is made from.

    Attributes:
        workspace: Where it lies.
        index: Searches it.
        model: For designs that ask one.
        config: Settings that all designs share.
        maintenance: When it is put in order in the background, for designs that are.
        run: Runs a coroutine to its end, from blocking code.
    """

    workspace: Workspace
    index: MemoryIndex
    model: Model
    config: MemoryConfig = field(default_factory=MemoryConfig)
    maintenance: MaintenanceConfig | None = None
    run: Blocking = in_thread


class NoMemory:
    """A durable memory that does nothing by itself. What lies in the workspace can be searched by a person all the same.

    A design overrides what it has: `begin` for a snapshot, `asked` for what the user's words point to, `injection` for what
    stands in the model input, `tools`, `flush` and `flushes_after_turn` for what is written, `maintenance` for work in the
    background.

    Args:
        parts: What it is made from.
    """

    def __init__(self, parts: DesignParts) -> None:
        self.workspace = parts.workspace
        self.index = parts.index
        self.model = parts.model
        self.config = parts.config
        self._memory = AgentMemory(parts.workspace, parts.index)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.workspace.name!r})"

    @property
    def memory(self) -> AgentMemory:
        """What a person can ask of it."""
        return self._memory

    @property
    def maintenance(self) -> Maintenance | None:
        """None: there is nothing to keep in order."""
        return None

    @property
    def flushes_after_turn(self) -> bool:
        """Never."""
        return False

    def begin(self, session: str) -> None:
        """A session was opened: the moment for what is read once a session."""

    def asked(self, text: str) -> None:
        """A turn begins with these words of the user: the moment for what is picked by them."""

    def tools(self) -> tuple[Tool, ...]:
        """None."""
        return ()

    def injection(self, counter: TokenCounter) -> Injection:
        """Nothing."""
        return Injection()

    def remember(self, texts: tuple[str, ...]) -> None:
        """Takes nothing of what a policy archives."""

    async def flush(
        self, messages: Sequence[tuple[int, Message]], *, session: str, now: datetime | None = None
    ) -> FlushOutcome:
        """Reads nothing; all messages count as done."""
        from harness_nb.memory.flush import FlushOutcome

        return FlushOutcome(upto=messages[-1][0] + 1 if messages else 0)
