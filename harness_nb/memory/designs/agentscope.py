"""AgentScope's durable memory, live: the two layers of `TwoLayers`, with its safeguards.

What the original does without them is in `AgentScopeFiles`, which works on the same folders.
"""

from __future__ import annotations

from harness_nb.memory.design import TwoLayers
from harness_nb.memory.designs.agentscope_files import AgentScopeFiles
from harness_nb.memory.designs.base import DesignParts


class AgentScopeMemory(TwoLayers):
    """Daily logs and MEMORY.md.

    Args:
        parts: What it is made from.

    Attributes:
        original: The same files as the original would write them.
    """

    def __init__(self, parts: DesignParts) -> None:
        super().__init__(
            parts.workspace, parts.index, parts.model, parts.config, maintenance=parts.maintenance, run=parts.run
        )
        self.original = AgentScopeFiles(parts.workspace.path)

    def __repr__(self) -> str:
        return f"AgentScopeMemory({self.workspace.name!r})"
