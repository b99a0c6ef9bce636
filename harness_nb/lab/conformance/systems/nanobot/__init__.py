"""Nanobot: compaction of a session, its archive, and the run that makes files of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.lab.conformance.cases import Given


def run(given: Given) -> Mapping[str, Any]:
    """Lets Nanobot act on a case."""
    if "steps" in given.more:
        from harness_nb.lab.conformance.systems.nanobot.memory import remembered

        return remembered(given)
    from harness_nb.lab.conformance.systems.nanobot.compaction import compacted

    return compacted(given)
