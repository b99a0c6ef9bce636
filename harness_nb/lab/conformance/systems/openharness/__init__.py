"""OpenHarness: its compaction alone, in its query loop and in its engine; and its memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.lab.conformance.cases import Given


def run(given: Given) -> Mapping[str, Any]:
    """Lets OpenHarness act on a case."""
    op, entry = given.config.get("op"), given.config.get("entry")
    if op is not None:
        from harness_nb.lab.conformance.systems.openharness.memory import OPERATIONS

        return OPERATIONS[op](given)
    if entry == "offload":
        from harness_nb.lab.conformance.systems.openharness.offload import offloaded

        return offloaded(given)
    from harness_nb.lab.conformance.systems.openharness.compaction import compacted

    return compacted(given)
