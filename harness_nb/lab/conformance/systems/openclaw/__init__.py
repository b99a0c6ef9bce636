"""OpenClaw: compaction at every point of a turn, caps and pruning of what is sent, and memory with hybrid search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.systems.openclaw import compaction, memory


def run(given: Given) -> Mapping[str, Any]:
    """Lets OpenClaw act on a case."""
    level = given.config.get("level")
    return compaction.run(given) if level is None else memory.run(given, level)
