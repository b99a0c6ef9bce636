"""AgentScope: compaction, overflow and eviction in one module, the durable memory in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.systems.agentscope import compaction, memory


def run(given: Given) -> Mapping[str, Any]:
    """Lets AgentScope act on a case."""
    if given.kind in memory.KINDS:
        return memory.KINDS[given.kind](given.input)
    return compaction.LEVELS[given.config["level"]](given)
